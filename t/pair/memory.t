# C19: memory has a bound that does not grow with the body. Bodies of 2 GB (60 MB in the fast size) cross a pair, or the
# server module alone in front of files, mapped or read, with and without a base; peaks are compared with the bound that
# docs/operations.md states, beyond what the same httpd needs for the same body with the module off.
use strict;
use warnings;

use CRCSync::Delta qw(if_block);
use CRCSync::Memory qw(server_bound client_bound);
use CRCSync::Pair;
use CRCSync::Reader qw(read_body);
use CRCSync::ServerAlone;
use CRCSync::Test;
use Digest::SHA;
use List::Util qw(max);

my $megabytes = soak(fast => 60, full => 2000);
my $part = random_bytes(1_000_000, 2);

# Parts of 1 MB, each behind its number: a page whose parts a base of one part has, but for the numbers.
sub write_page {
    my ($file, $parts) = @_;
    my $sha = Digest::SHA->new(256);
    open my $out, '>:raw', "$file.new" or die "$file.new: $!\n";
    for (1 .. $parts) {
        my $bytes = sprintf('%08d', $_) . $part;
        print $out $bytes;
        $sha->add($bytes);
    }
    close $out or die "$file.new: $!\n";
    rename "$file.new", $file or die "$file: $!\n";
    return $sha->hexdigest;
}

# --- the server module in front of files of its own
for my $mmap ('On', 'Off') {
    my $server = CRCSync::ServerAlone->start(conf => <<"END");
EnableMMAP $mmap
<Location /off/>
    CRCSyncServer Off
</Location>
Alias /off/ \@DIR\@/htdocs/
END
    my $files = $server->dir . '/htdocs';
    write_page("$files/page.jpeg", $megabytes);
    spew("$files/small.jpeg", $part);
    my $url = 'http://127.0.0.1:' . $server->port;
    my $size = $megabytes * (8 + length $part);
    # All code has been used, and all that is made once is made.
    for my $base (undef, random_bytes(1_000_000, 4)) {
        read_body("$url/small.jpeg", fields => [$base ? ('If-Block' => if_block($base, 40)) : ()]);
    }

    my $memory = CRCSync::Memory->new($server->httpd);
    is(read_body("$url/off/page.jpeg")->{bytes}, $size, "mmap $mmap, module off: all bytes");
    my $yardstick = $memory->grown;
    figure("C19: server, mmap $mmap, module off: grown, kB" => $yardstick);
    # httpd maps 4 MiB of a file at a time. When it still sends the end of one map it has the next already, or not: that
    # is chance, and counts as if it had.
    $yardstick = max($yardstick, 2 * 4_096) if $mmap eq 'On';

    # The base that fits is the page's own part; the other has nothing of it: all is literal.
    my %base = (fits => $part, 'does not fit' => random_bytes(1_000_000, 3));
    for my $base (undef, sort keys %base) {
        my $what = "mmap $mmap, " . (defined $base ? "a base that $base" : 'no base');
        my @fields = defined $base ? ('If-Block' => if_block($base{$base}, 40)) : ();
        $memory = CRCSync::Memory->new($server->httpd);
        my $read = read_body("$url/page.jpeg", fields => \@fields);
        is($read->{exit}, 0, "C19: server, $what: complete");
        if (!defined $base) { is($read->{bytes}, $size, "$what: all bytes") }
        else { like($read->{fields}, qr/^Content-Encoding: crcsync/im, "$what: a delta") }
        cmp_ok($read->{bytes}, '<', $size / 50, "$what: a small one") if defined $base && $base eq 'fits';
        my $grown = $memory->grown;
        my $bound = $yardstick + server_bound(block => 25_000);
        cmp_ok($grown, '<=', $bound, "C19: server, $what: grown by $grown kB");
        figure("C19: server, $what: grown, kB (bound $bound)" => $grown);
    }
    unlink "$files/page.jpeg";
    $server->httpd->stop;
}

# --- through both modules
my $origin = CRCSync::Httpd->start(name => 'origin', without => [qw(crccache_server crccache_client)]);
my $page = $origin->dir . '/htdocs/page.jpeg';
my $hold = 1_000_000;

sub start_pair {
    my ($mmap, $client) = @_;
    my $pair = CRCSync::Pair->start(
        to     => $origin->port,
        relay  => 0,
        server => "EnableMMAP $mmap\n",
        client => "EnableMMAP $mmap\nCRCSyncClientHoldMemory $hold\nCRCSyncClientMaxInstance 8G\n$client",
    );
    write_page($page, 1);
    for my $turn (1, 2) {
        my $read = read_page($pair, '?warm');
        is($read->{exit}, 0, "mmap $mmap: small page, turn $turn");
    }
    return $pair;
}

sub read_page {
    my ($pair, $query) = @_;
    my $lines = $pair->client->log_count;
    my $read = read_body('http://127.0.0.1:' . $pair->port . '/page.jpeg' . ($query // ''));
    $read->{log} = $pair->client->last_log($lines + 1);
    return $read;
}

# Fetches the page through the pair: the right bytes, and bounds kept on both sides.
sub fetch_ok {
    my ($pair, $sha256, $query, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my %memory = map { $_ => CRCSync::Memory->new($pair->$_) } qw(server client);
    my $read = read_page($pair, $query);
    is($read->{exit}, 0, "C19: $what: complete");
    is($read->{sha256}, $sha256, "C19: $what: the right bytes");
    # httpd as a proxy has 1 MiB for itself.
    my %bound = (server => 1_024 + server_bound(block => 50_000), client => 1_024 + client_bound(hold => $hold));
    for my $side (qw(server client)) {
        my $grown = $memory{$side}->grown;
        cmp_ok($grown, '<=', $bound{$side}, "C19: $what: the $side proxy has grown by $grown kB");
        figure(sprintf('C19: %s, %s: grown, kB (bound %d)', $side, $what, $bound{$side}) => $grown);
    }
    return $read->{log};
}

for my $mmap ('On', 'Off') {
    my $pair = start_pair($mmap, "CacheMaxFileSize 2000000\n");
    my $log = fetch_ok($pair, write_page($page, $megabytes), '?full', "mmap $mmap, full");
    is($log->{result}, 'full', 'it was full');
    $log = fetch_ok($pair, write_page($page, $megabytes), '?warm', "mmap $mmap, delta");
    is($log->{result}, 'delta', 'it was a delta');
    $_->stop for $pair->client, $pair->server;
}

# A base as large as the page: written from the temporary file, read to be signed, read to be applied.
my $large = soak(fast => 20, full => 500);
my $pair = start_pair('On', "CacheMaxFileSize 2000000000\nCRCSyncClientMaxBase 1G\n");
my $sha256 = write_page($page, $large);
fetch_ok($pair, $sha256, '?large', "$large MB that become a base");
my $log = fetch_ok($pair, $sha256, '?large', "$large MB that are base and page");
# Its blocks are larger than the server module allows.
is($log->{result}, 'full', 'blocks of such a base are too large') if $large > 256;
is($log->{result}, 'delta', 'the base was used') if $large <= 256;

allow_log(qr/\[cache_disk:|store-limit/);
done_testing;
