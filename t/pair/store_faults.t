# The store of bases fails: damaged files, a directory that cannot be written, files too large for it (C30, C33, C38).
# The pair serves right pages, and says why there is no delta.
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;
use File::Find ();

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(to => $origin->port);
my $cache = $pair->client->dir . '/cache';
my @type = ('Content-Type' => 'text/html');
my $page = text(50_000);
$origin->put('/page', body => $page, fields => [@type]);

sub files {
    my @files;
    File::Find::find({no_chdir => 1, wanted => sub { push @files, $_ if -f }}, $cache);
    @files = sort @files;
    return @files;
}

# Each file of the store, damaged in each of these ways.
my %damage = (
    'empty'                => sub { '' },
    'half'                 => sub { substr $_[0], 0, length($_[0]) / 2 },
    'a bit in the middle'  => sub { my $text = $_[0]; substr($text, length($text) / 2, 1) ^= "\x10"; $text },
    'a bit at the start'   => sub { my $text = $_[0]; substr($text, 0, 1) ^= "\x01"; $text },
    'a bit at the end'     => sub { my $text = $_[0]; substr($text, -1, 1) ^= "\x01"; $text },
    'noise'                => sub { random_bytes(length $_[0], 9) },
    'longer than it was'   => sub { $_[0] . 'more' x 1_000 },
);
for my $how (sort keys %damage) {
    $pair->body_ok('/page', $page, "$how: a base");
    CRCSync::Work::wait_for('a base', sub { scalar files() });
    my @files = files();
    for my $file (@files) {
        my $what = "C38: $how in " . ($file =~ /\.([a-z]+)$/)[0];
        spew($file, $damage{$how}->(slurp($file)));
        $pair->body_ok('/page', $page, $what);
        $pair->body_ok('/page', $page, "$what, once more");
        last unless -e $file;
    }
}

# All files gone, the directory too.
unlink files();
$pair->body_ok('/page', $page, 'all files gone');
File::Path::remove_tree($cache);
$pair->body_ok('/page', $page, 'C33: the directory gone') for 1 .. 2;

# A directory that cannot be written: another pair.
my $locked = CRCSync::Pair->start(to => $origin->port);
chmod 0500, $locked->client->dir . '/cache';
for my $turn (1 .. 3) {
    my (undef, @exchanges) = $locked->body_ok('/page', $page, "C30: no place to write, fetch $turn");
    is(field($exchanges[0]{request}, 'If-Block'), undef, "no place to write, fetch $turn: no base");
}
chmod 0700, $locked->client->dir . '/cache';
$locked->body_ok('/page', $page, 'a place to write');
my (undef, @exchanges) = $locked->body_ok('/page', $page, 'a place to write, again');
is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', 'a delta');

# Larger than mod_cache_disk takes by default.
my $large = random_bytes(10_000) x 110;
$origin->put('/large', body => $large, fields => [@type]);
for my $turn (1 .. 2) {
    (undef, @exchanges) = $locked->body_ok('/large', $large, "too large for the store, fetch $turn");
    is(field($exchanges[0]{request}, 'If-Block'), undef, "too large for the store, fetch $turn: no base");
}

allow_log(qr/cache_disk|\[cache:|store|crcsync/);
done_testing;
