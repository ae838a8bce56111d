# The upstream fails, refuses, or has no connection to spare, and readers leave (C17, C18, C39).
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(block literal deflated strong make_delta);
use CRCSync::Pair;
use CRCSync::Test;
use Socket qw(SOL_SOCKET SO_LINGER);

my $n = CRCSync::ClientAlone::BLOCKS;
my $base = text(50_000, 1);
my @html = ('Content-Type' => 'text/html');
my @crcsync = (@html, 'Content-Encoding' => 'crcsync', Capability => 'crcsync; m=1');

# --- one connection to the upstream for all: the second fetch must not wait for the first
my $narrow = CRCSync::ClientAlone->start(
    proxy => 0,
    conf  => qq{ProxyPass "/" "http://127.0.0.1:\@TO\@/" max=1\n},
);
for my $how (['a corrupt delta', body => 'X', fields => [@crcsync]],
    ['a delta that breaks off', raw => "HTTP/1.1 200 OK\r\nContent-Encoding: crcsync\r\nContent-Length: 9\r\n\r\nL", close => 1],
    ['a refusal', status => 431, body => 'no' x 10_000],
    ['a delta that ends with the connection', raw => "HTTP/1.0 200 OK\r\nContent-Encoding: crcsync\r\n\r\nL", close => 1])
{
    my ($name, %answer) = @$how;
    my $target = '/' . $name =~ s/\W/-/gr;
    $narrow->base_ok($target, $base);
    $narrow->with_if_block($target, %answer);
    $narrow->body_ok($target, $base, "max=1, $name");
    is($narrow->note('result'), 'refetched', "max=1, $name: refetched");
}

# --- 400, 413, 431, also where mod_proxy makes error pages of its own
for my $override ('Off', 'On') {
    my $alone = CRCSync::ClientAlone->start(conf => "ProxyErrorOverride $override\n");
    for my $status (400, 413, 431) {
        my $target = "/refuses$status";
        $alone->base_ok($target, $base);
        $alone->with_if_block($target, status => $status, body => 'refused', fields => [@html, 'X-Refused' => 1]);
        for my $turn (1 .. 3) {
            my $response = $alone->body_ok($target, $base, "$status, override $override, turn $turn");
            is(field($response, 'X-Refused'), undef, "C39: $status, override $override, turn $turn: nothing of the refusal");
            my @sent = map { defined field($_, 'If-Block') ? 1 : 0 } $alone->requests;
            is("@sent", $turn == 1 ? '1 0' : '0', "C39: $status, override $override, turn $turn: requests with If-Block");
            is($alone->note('reason'), 'refused-request', "$status, override $override, turn $turn: the reason");
        }
        # Refused with and without: the reader's own error.
        $target = "/always$status";
        $alone->base_ok($target, $base);
        $alone->full($target, status => $status, body => 'refused', fields => [@html]);
        is($alone->get($target)->{status}, $status, "$status for everybody, override $override");
        is(scalar(my @all = $alone->requests), 2, "$status for everybody, override $override: no loop");
    }
    # Other errors are no refusals.
    for my $status (404, 410, 414, 500, 503) {
        my $target = "/error$status";
        $alone->base_ok($target, $base);
        $alone->full($target, status => $status, body => 'error', fields => [@html]);
        is($alone->get($target)->{status}, $status, "$status, override $override");
        my @requests = $alone->requests;
        is(scalar @requests, 1, "$status, override $override: asked once");
        ok(defined field($requests[0], 'If-Block'), "$status, override $override: with If-Block");
        # The base is still there.
        $alone->full($target, body => $base, fields => [@html]);
        $alone->body_ok($target, $base, "after $status, override $override");
        ok(defined field(($alone->requests)[0], 'If-Block'), "after $status, override $override: the base is there");
    }
}

# --- an error document that is proxied itself is no base, and asked for without If-Block
my $documents = CRCSync::ClientAlone->start(conf => "ProxyErrorOverride On\nErrorDocument 404 /document\n");
$documents->base_ok('/document', $base);
$documents->full('/gone', status => 404, body => 'gone');
for my $turn (1 .. 2) {
    my $response = $documents->get('/gone');
    is($response->{status}, 404, "an error document, turn $turn: status");
    is_body($response->{body}, $base, "an error document, turn $turn");
    my @requests = $documents->requests;
    is($requests[1]{target}, '/document', "an error document, turn $turn: from the upstream");
    is(field($requests[1], 'If-Block'), undef, "an error document, turn $turn: no If-Block");
}

# --- the request's head: it stays below what servers take
my $alone = CRCSync::ClientAlone->start(conf => "CRCSyncClientBlocks 200\n");
$alone->base_ok('/head', $base);
my %delta = map { $_ => [make_delta($base, $_, map { [$_] } 0 .. $_ - 1)] } 1 .. 200;
my @counts;
for my $cookie (0, 1_000, 3_000, 5_000, 6_000, 6_500, 7_000, 7_300, 7_800) {
    $alone->full('/head', body => $base, fields => [@html]);
    $alone->body_ok('/head', $base, "a cookie of $cookie bytes", $cookie ? (Cookie => 'x' x $cookie) : ());
    my ($request) = $alone->requests;
    cmp_ok(length $request->{head}, '<', 8_190, "C39: a cookie of $cookie bytes: the head") if $cookie < 7_800;
    my $sent = field($request, 'If-Block');
    push @counts, $sent ? (CRCSync::Delta::parse_if_block($sent))[1] : 0;
    is($alone->note('reason'), 'too-large', "a cookie of $cookie bytes: the reason") if !$sent && $cookie > 7_000;
    # Deltas are not given up here: that would be the history's doing.
    $alone = CRCSync::ClientAlone->start(conf => "CRCSyncClientBlocks 200\n");
    $alone->base_ok('/head', $base);
}
note("blocks: @counts");
is($counts[0], 200, 'without a cookie, all blocks');
is(join(' ', sort { $b <=> $a } @counts), "@counts", 'C39: the larger the cookie, the fewer blocks');
is($counts[-1], 0, 'C39: and none in the end');
cmp_ok($counts[4], '<', 200, 'some in between');
for my $max (64, 100, 500, 2400, 8000) {
    my $limited = CRCSync::ClientAlone->start(conf => "CRCSyncClientBlocks 256\nCRCSyncClientMaxHeader $max\n");
    $limited->base_ok('/page', $base);
    $limited->body_ok('/page', $base, "a field of $max bytes");
    my $sent = field(($limited->requests)[0], 'If-Block') // '';
    cmp_ok(length "If-Block: $sent\r\n", '<=', $max, "a field of $max bytes: kept") if length $sent;
    ok(length $sent, "a field of $max bytes: sent");
}

# --- full responses that fail: the reader sees it, the base is that of before
$alone = CRCSync::ClientAlone->start;
my $new = text(50_000, 2);
my %early = (
    'with a length' => "HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n" . substr($new, 0, 30_000),
    'in a chunk'    => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" . sprintf("%x\r\n", 50_000) . substr($new, 0, 30_000),
);
for my $how (sort keys %early) {
    my $target = '/early-' . $how =~ s/\W/-/gr;
    $alone->base_ok($target, $base);
    $alone->full($target, raw => $early{$how}, close => 1);
    my $response = $alone->get($target);
    ok(!$response || !$response->{complete} || $response->{status} >= 500, "C17: stops early $how: a failure");
    is(scalar(my @all = $alone->requests), 1, "C17: stops early $how: no loop");
    is($alone->note('reason'), 'upstream-error', "stops early $how: the reason") if $response;
    $alone->full($target, body => $base, fields => [@html]);
    $alone->get($target);
    is(field(($alone->requests)[0], 'If-Block'), CRCSync::Delta::if_block($base, $n), "C17: stops early $how: the old base");
}

# --- the reader resets his connection while a large delta is held: the upstream is let go
my $left = CRCSync::Work::new_dir('left');
my $endless = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        if (!defined CRCSync::Stream::field($request, 'If-Block')) {
            $connection->send(CRCSync::Origin::response(body => $base, fields => [@html]));
            return;
        }
        $connection->send("HTTP/1.1 200 OK\r\nContent-Encoding: crcsync\r\nTransfer-Encoding: chunked\r\n\r\n");
        my $part = block(0) x 1_000;
        my $sent = 0;
        while ($connection->send(sprintf "%x\r\n%s\r\n", length $part, $part)) {
            spew("$left/sent", ++$sent);
            select undef, undef, undef, 0.02;
        }
        spew("$left/gone", $sent);
    }
);
my $client = CRCSync::Httpd->start(
    name    => 'client',
    without => ['crccache_server'],
    vars    => {TO => $endless->port},
    conf    => CRCSync::Pair::client_conf() . "CRCSyncClientBlocks $n\nCRCSyncClientHoldMemory 10K\n",
);
is_body(http_get($client->port, '/')->{body}, $base, 'a base');
my $reader = CRCSync::Http->new($client->port);
$reader->send_request(GET => '/');
CRCSync::Work::wait_for('some of the delta', sub { -e "$left/sent" });
setsockopt $reader->socket, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0 or die;
$reader->close;
CRCSync::Work::wait_for('the upstream to be let go', sub { -e "$left/gone" });
pass('C18: the upstream is let go when the reader resets');
$endless->requests;
http_request($client->port, HEAD => '/');
is(scalar(my @all = $endless->requests), 1, 'and nothing is asked for again');

# --- readers who leave a full response: what they did not get is no base
my $gate = "$left/gate";
my $slow = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $body = 'x' x 3_000_000;
        $connection->send("HTTP/1.1 200 OK\r\nContent-Length: 3100000\r\n\r\n$body");
        CRCSync::Work::wait_for('the gate', sub { -e $gate });
        $connection->send('y' x 100_000);
    }
);
$client = CRCSync::Httpd->start(
    name    => 'client',
    without => ['crccache_server'],
    vars    => {TO => $slow->port},
    conf    => CRCSync::Pair::client_conf() . "CacheMaxFileSize 10000000\n",
);
$reader = CRCSync::Http->new($client->port);
$reader->send_request(GET => '/');
$reader->response(progress => sub { $_[0] && length $_[0]{body} > 1_000_000 });
$reader->close;
spew($gate, '');
is(length http_get($client->port, '/')->{body}, 3_100_000, 'the next reader gets the page');
is(field(($slow->requests)[1], 'If-Block'), undef, 'C18: no base was made of what the first left');

allow_log(qr/AH01102|AH01110|AH00898|proxy_http:error|gives no instance|nothing that can be used/);
done_testing;
