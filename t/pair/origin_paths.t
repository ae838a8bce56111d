# The pair and the origin in one process (Apache::Test's server): a dynamic page, SSI, CGI, ErrorDocument, redirects,
# mod_rewrite, coded files. What each gives is compared with what the origin gives when asked directly.
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;

my $pair = CRCSync::Pair->shared;
my @delta = (without => ['Accept-Ranges']);    # a delta drops it
my $state = apache_test('t_state');
my $port = apache_test('port');

for my $serial (1 .. 4) {
    my ($response, @exchanges) = $pair->get('/dynamic?key=paths');
    is(field($response, 'X-Serial'), $serial, "dynamic page $serial");
    is_body($response->{body}, slurp("$state/paths.$serial"), "dynamic page $serial: bytes");
    next if $serial == 1;
    is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', "dynamic page $serial: a delta");
    cmp_ok(length $exchanges[0]{response}{raw}, '<', 10_000, "dynamic page $serial: bytes on the line");
}

for my $target ('/', '/index.html', '/included.shtml', '/cgi-bin/hello.pl?reader', '/rewritten/index.html', '/nowhere',
    '/cgi-bin/nowhere', '/rewritten/nowhere')
{
    $pair->same_ok(GET => $target, "$target, fetch $_", @delta) for 1 .. 3;
    $pair->same_ok(HEAD => $target, "HEAD $target");
}
# A redirect names the reader's own side, by ProxyPassReverse in both proxies.
for my $turn (1 .. 2) {
    my ($response) = $pair->get('/moved');
    is($response->{status}, 302, "a redirect, fetch $turn");
    is(field($response, 'Location'), "http://127.0.0.1:$pair->{port}/index.html", 'its target is on the reader\'s side');
}

# A file that the origin reads and sends by itself, with Last-Modified and ETag, ranges included.
my $root = apache_test('documentroot');
my $page = text(150_000, 3);
spew("$root/file.html", $page);
my ($first) = $pair->same_ok(GET => '/file.html', 'a file');
substr $page, 70_000, 7, 'changed';
spew("$root/file.html", $page);
my (undef, @exchanges) = $pair->same_ok(GET => '/file.html', 'the file, changed', @delta);
is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', 'a delta');
my ($tag, $date) = map { field($first, $_) } qw(ETag Last-Modified);
my ($response) = $pair->same_ok(GET => '/file.html', 'its old tag', fields => ['If-None-Match' => $tag], @delta);
is($response->{status}, 200, 'its old tag: the new file');
$tag = field($response, 'ETag');
($response) = $pair->same_ok(GET => '/file.html', 'its new tag', fields => ['If-None-Match' => $tag]);
is($response->{status}, 304, 'its new tag: 304');
$pair->same_ok(GET => '/file.html', 'a range', fields => [Range => 'bytes=1000-1999']);
$pair->same_ok(GET => '/file.html', 'a range past the end', fields => [Range => 'bytes=999999999-']);
$pair->same_ok(GET => '/file.html', 'If-Range', fields => [Range => 'bytes=5-9', 'If-Range' => $tag]);

# mod_deflate and mod_brotli at the origin, for a reader who accepts them.
for my $turn (1 .. 3) {
    ($response, @exchanges) = $pair->get('/gzip/file.html', 'Accept-Encoding' => 'gzip, br');
    my $plain = $response->{body};
    if ((field($response, 'Content-Encoding') // '') eq 'gzip') {
        require Compress::Zlib;
        $plain = Compress::Zlib::memGunzip($plain);
    }
    is_body($plain, $page, "a gzip origin, fetch $turn");
    ($response) = $pair->get('/br/file.html', 'Accept-Encoding' => 'br, gzip');
    is_body($response->{body}, $page, "an origin that could do br, fetch $turn: not asked for it");
}

my $sent = 'x' x 100_000;
my $echo = http_request($pair->port, POST => '/echo', body => $sent);
is(length(($echo->{body} =~ /\n\n(.*)/s)[0]), 100_000, 'a POST goes through whole');
for my $turn (1 .. 2) {
    my $seen = http_get($pair->port, '/echo');
    unlike($seen->{body}, qr/^If-Block/mi, "the origin sees no If-Block, fetch $turn");
    unlike($seen->{body}, qr/crcsync/i, "nor anything else of ours, fetch $turn");
}

# A page in pieces, flushed.
my $direct = http_get($port, '/flush?bytes=30000&piece=1000')->{body};
for my $turn (1 .. 2) {
    ($response, @exchanges) = $pair->get('/flush?bytes=30000&piece=1000');
    is_body($response->{body}, $direct, "a page in flushed pieces, fetch $turn");
}
is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', 'is a delta too');

# The forward proxy in the same process: absolute URIs, the same line.
my $forward = apache_test('forward_port');
for my $turn (1 .. 3) {
    $pair->relay->exchanges;
    is_body(http_get($forward, "http://127.0.0.1:$port/file.html")->{body}, $page, "forward proxy, fetch $turn");
    my ($exchange) = $pair->relay->exchanges;
    is($exchange->{request}{target}, "http://127.0.0.1:$port/file.html", "forward proxy, fetch $turn: its request");
}

allow_log(qr/script not found or unable to stat/);
done_testing;
