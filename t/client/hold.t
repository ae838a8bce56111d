# Where a held instance lives: memory up to CRCSyncClientHoldMemory, then a temporary file without a name. All that comes
# after our filter gets the same bytes.
use strict;
use warnings;

use Compress::Zlib ();
use CRCSync::ClientAlone;
use CRCSync::Delta qw(blocks block literal deflated strong make_delta);
use CRCSync::Test;

my $n = CRCSync::ClientAlone::BLOCKS;
my $tmp = CRCSync::Work::new_dir('tmp');

for my $memory ('0', '1', '8K', '100000', '1M') {
    local $ENV{TMPDIR} = $tmp;
    my $alone = CRCSync::ClientAlone->start(
        modules => ['http2'],
        conf    => <<"END",
CRCSyncClientHoldMemory $memory
Protocols h2c http/1.1
<Location "/deflate">
    SetOutputFilter DEFLATE
</Location>
<Location "/substitute">
    SetOutputFilter SUBSTITUTE
    Substitute s/time/TIME/
</Location>
CacheEnable crcsync /cached
END
    );
    my $old = text(150_000, 1);
    for my $target ('/plain', '/deflate', '/substitute', '/cached', '/h2') {
        my $name = "hold $memory, $target";
        my $fetch = sub {
            return http_get($alone->port, $target, $target eq '/deflate' ? ('Accept-Encoding' => 'gzip') : ())->{body}
                if $target ne '/h2';
            my $url = 'http://127.0.0.1:' . $alone->port . $target;
            return scalar qx{curl -sS --noproxy '*' --http2-prior-knowledge $url};
        };
        my $want = sub {
            my ($body, $page) = @_;
            $body = Compress::Zlib::memGunzip($body) if $target eq '/deflate';
            $page =~ s/time/TIME/g if $target eq '/substitute';
            return is_body($body, $page, $name);
        };
        $alone->full($target, body => $old, fields => ['Content-Type' => 'text/html', ETag => '"1"', 'Cache-Control' => 'max-age=0']);
        $want->($fetch->(), $old);
        my $base = $old;
        for my $turn (1 .. 3) {
            my ($delta, $new) = make_delta($base, $n, "turn $turn", (map { [$_] } 0 .. $n - 1), 'and' x 50_000 x ($turn - 1));
            $alone->delta($target, $delta, ETag => "\"$turn-crcsync-identity\"", 'Cache-Control' => 'max-age=0');
            $want->($fetch->(), $new);
            $base = $new;
        }
        $alone->full($target, status => 500, body => 'not to be asked for');
    }
    is(scalar(grep { !/AH00/ } CRCSync::ErrorLog::lines(qr/gives no instance/)), 0, "hold $memory: every delta was used");
    opendir my $handle, $tmp or die;
    my @left = grep { /^crcsync/ } readdir $handle;
    is("@left", '', "hold $memory: no file is left, not even while the server runs");
    $alone->client->stop;
}

# No place for the temporary file: the page by a second fetch.
mkdir "$tmp/locked" or die;
{
    # Where TMPDIR cannot be written, APR looks for other places.
    my $alone = CRCSync::ClientAlone->start(conf => "CRCSyncClientHoldMemory 0\n");
    my $base = text(20_000, 2);
    $alone->base_ok('/page', $base);
    my ($delta, $new) = make_delta($base, $n, 'new', map { [$_] } 0 .. $n - 1);
    $alone->delta('/page', $delta);
    $alone->body_ok('/page', $new, 'with a temporary file');
}

# More than CRCSyncClientMaxInstance: in full, and not asked for again.
my $alone = CRCSync::ClientAlone->start(conf => "CRCSyncClientMaxInstance 100K\nCRCSyncClientHoldMemory 1K\n");
my $base = text(90_000, 3);
my $large = $base . 'more' x 10_000;
$alone->base_ok('/page', $base);
my $delta = join('', map { block($_) } 0 .. $n - 1) . deflated('more' x 10_000) . strong($large);
$alone->delta('/page', $delta);
$alone->full('/page', body => $large, fields => ['Content-Type' => 'text/html']);
for my $turn (1 .. 3) {
    $alone->body_ok('/page', $large, "larger than allowed, turn $turn");
    my @requests = $alone->requests;
    is(scalar(grep { defined field($_, 'If-Block') } @requests), $turn == 1 ? 1 : 0, "larger than allowed, turn $turn: If-Block");
    is($alone->note('reason'), 'too-large', "larger than allowed, turn $turn: the reason");
}
expect_log(qr/the delta gives no instance \(too-large\)/);
# mod_http2 does not like mpm_prefork, and says so.
allow_log(qr/AH10034/);

done_testing;
