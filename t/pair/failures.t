# The line or the origin fails in the middle: the reader sees a failure or the right page, the base stays, nothing loops
# (C17, C18, C25).
use strict;
use warnings;

use Compress::Zlib ();
use CRCSync::Pair;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(to => $origin->port);
my @type = ('Content-Type' => 'text/html');
my $page = text(100_000);
$origin->put('/page', body => $page, fields => [@type]);
$pair->body_ok('/page', $page, 'the base');

my $changed = random_bytes(40_000, 3) . substr($page, 0, 60_000);

sub failed_or_right {
    my ($name, $response, $want) = @_;
    $name = "C17: $name";
    if ($response && $response->{status} == 200 && $response->{complete}) {
        is_body($response->{body}, $want, "$name: whole, so right");
    }
    elsif ($response && $response->{status} == 200) {
        is(substr($want, 0, length $response->{body}), $response->{body}, "$name: cut, and right so far");
    }
    else {
        like($response ? $response->{status} : 502, qr/^50[0-9]$/, "$name: a clean error");
    }
    return;
}

# The origin stops early, with a length that is too long and in the middle of a chunk.
my $half = substr $changed, 0, 50_000;
my %early = (
    'with a length' => "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n$half",
    'chunked'       => "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
        . sprintf("%x\r\n%s", 100_000, $half),
    'in a chunk head' => "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
        . sprintf("%x\r\n%s\r\n1", 50_000, $half),
    'after the head' => "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n",
);
for my $how (sort keys %early) {
    $origin->put('/page', raw => $early{$how}, close => 1);
    $origin->requests;
    my ($response) = $pair->get('/page');
    ok(!$response || $response->{status} >= 500 || !$response->{complete}, "C17: an origin that stops early, $how: a failure");
    failed_or_right("an origin that stops early, $how", $response, $changed);
    cmp_ok(scalar(my @all = $origin->requests), '<=', 3, "$how: the origin is not asked again and again");
    $origin->put('/page', body => $page, fields => [@type]);
    my (undef, @exchanges) = $pair->body_ok('/page', $page, "$how: afterwards");
    my $answer = $exchanges[-1]{response};
    is(field($answer, 'Content-Encoding'), 'crcsync', "C25: $how: the base is still there");
    cmp_ok(length $answer->{body}, '<', 300, "$how: and it is the whole page");
}

# The line breaks in a delta: in its head, at its start, in the middle, just before its end.
$origin->put('/page', body => $changed, fields => [@type]);
for my $cut (50, 400, 1_000, 20_000, 40_300) {
    $pair->relay->change(cut => $cut);
    failed_or_right("a line cut after $cut bytes", ($pair->get('/page'))[0], $changed);
    $pair->relay->change;
}
$pair->body_ok('/page', $changed, 'after all cuts');
my (undef, @exchanges) = $pair->body_ok('/page', $changed, 'and again');
is(field($exchanges[-1]{response}, 'Content-Encoding'), 'crcsync', 'a delta again');

# The line breaks in a full response, the first for its page: half a page is no base.
for my $cut (50, 1_000, 60_000) {
    my $target = "/first$cut";
    $origin->put($target, body => $page, fields => [@type]);
    $pair->relay->change(cut => $cut);
    failed_or_right("a first response cut after $cut", ($pair->get($target))[0], $page);
    $pair->relay->change;
    (undef, @exchanges) = $pair->body_ok($target, $page, "a first response cut after $cut: afterwards");
    is(field($exchanges[-1]{request}, 'If-Block'), undef, 'without a base');
}

# A gzip body of the origin that is none: no delta can be made of it, and the reader gets its bytes, as without the modules.
my $gzip = Compress::Zlib::memGzip($page);
for my $how (['damaged', substr($gzip, 0, 100) . 'damage' . substr $gzip, 100], ['short', substr $gzip, 0, -5], ['no gzip at all', $half]) {
    my ($name, $body) = @$how;
    my $target = '/gzip-' . $name =~ s/ /-/gr;
    $origin->put($target, body => $page, fields => [@type]);
    $pair->body_ok($target, $page, "$name: the base");
    $origin->put($target, body => $body, fields => [@type, 'Content-Encoding' => 'gzip']);
    my ($response, @all) = $pair->body_ok($target, $body, "a gzip body that is $name");
    is(field($response, 'Content-Encoding'), 'gzip', "a gzip body that is $name: its coding");
    is(scalar @all, 2, "a gzip body that is $name: a delta that is cut off, then the whole page");
}

# The reader leaves in the middle of a large page; the base is that of before.
my $large = random_bytes(500_000, 5) x 8;
$origin->put('/page', body => $large, fields => [@type]);
my $reader = CRCSync::Http->new($pair->port);
$reader->send_request(GET => '/page');
$reader->response(progress => sub { $_[0] && length $_[0]{body} > 10_000 });
$reader->close;
$pair->body_ok('/page', $large, 'C18: the page for the next reader');

# The origin is gone altogether, and comes back.
$pair->relay->stop;
my ($response) = $pair->get('/page');
is($response->{status}, 503, 'no line: 503');

expect_log(qr/proxy/);
allow_log(qr/the response is cut off|\[proxy(?:_http)?:|AH01102|AH01110|truncated|upstream|crcsync/);
done_testing;
