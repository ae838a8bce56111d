# Memory does not grow with the body (C19): children are read after bodies of 10 MB, and again after 200 MB.
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;
use Digest::SHA;

my $part = random_bytes(1_000_000, 2);

# /N: N parts of 1 MB, each a little different.
my $origin = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my ($parts) = $request->{target} =~ /(\d+)/;
        my $length = $parts * (1_000_000 + 8);
        $connection->send("HTTP/1.1 200 OK\r\nContent-Type: image/x-test\r\nContent-Length: $length\r\n\r\n");
        for (1 .. $parts) {
            $connection->send(sprintf('%08d', $_) . $part) or last;
        }
    }
);
my $pair = CRCSync::Pair->start(
    to     => $origin->port,
    client => "CRCSyncClientHoldMemory 1000000\nCacheMaxFileSize 2000000\n",
);

# Highest resident memory of all children so far, in kB.
sub peak {
    my ($httpd) = @_;
    my $most = 0;
    for my $pid ($httpd->children) {
        my ($kb) = slurp("/proc/$pid/status") =~ /^VmHWM:\s+(\d+) kB/m;
        $most = $kb if $kb > $most;
    }
    return $most;
}

# Reads a body without keeping it; returns its digest.
sub digest {
    my ($target) = @_;
    my $sha = Digest::SHA->new(256);
    my $client = CRCSync::Http->new($pair->port);
    $client->send_request(GET => $target);
    my $whole = $client->response(
        progress => sub {
            my ($message) = @_;
            return 0 unless $message;
            $sha->add($message->{body});
            $message->{body} = $message->{raw} = '';
            return 0;
        }
    );
    $sha->add($whole->{body});
    return $whole->{complete} ? $sha->hexdigest : 'incomplete';
}

sub want {
    my ($parts) = @_;
    my $sha = Digest::SHA->new(256);
    $sha->add(sprintf('%08d', $_), $part) for 1 .. $parts;
    return $sha->hexdigest;
}

# A base of 1 MB, so that the server has blocks to look for, then a page of the same URL that has grown.
is(digest('/10'), want(10), '10 MB');
my %before = map { $_ => peak($pair->$_) } qw(server client);
is(digest('/200'), want(200), '200 MB');
for my $side (qw(server client)) {
    my $grown = peak($pair->$side) - $before{$side};
    cmp_ok($grown, '<', 20_000, "the $side proxy has grown by $grown kB");
}

# Deltas: the base is 1 MB, the page 200 MB; the client proxy holds it until it is verified.
my $size = CRCSync::Work::new_dir('size') . '/size';
my $growing = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $parts = slurp($size);
        my $length = $parts * (1_000_000 + 8);
        $connection->send("HTTP/1.1 200 OK\r\nContent-Type: image/x-test\r\nContent-Length: $length\r\n\r\n");
        for (1 .. $parts) {
            $connection->send(sprintf('%08d', $_) . $part) or last;
        }
    }
);
$pair = CRCSync::Pair->start(
    to     => $growing->port,
    client => "CRCSyncClientHoldMemory 1000000\nCacheMaxFileSize 2000000\n",
);
spew($size, 1);
is(digest('/page'), want(1), 'a base of 1 MB');
is(digest('/page'), want(1), 'and a delta against it');
%before = map { $_ => peak($pair->$_) } qw(server client);
spew($size, 200);
$pair->relay->exchanges;
is(digest('/page'), want(200), 'the page has grown to 200 MB');
for my $side (qw(server client)) {
    my $grown = peak($pair->$side) - $before{$side};
    cmp_ok($grown, '<', 30_000, "a delta of 200 MB: the $side proxy has grown by $grown kB");
}
my $log = $pair->client->last_log(3);
is($log->{result}, 'delta', 'it was a delta');
cmp_ok($log->{'wire-bytes'}, '>', 100_000, 'of some size');

allow_log(qr/\[cache_disk:|store-limit/);
done_testing;
