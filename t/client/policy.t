# Whether and how finely If-Block is sent: blocks after the page's size, backing off where deltas do not pay.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(if_block make_delta literal deflated strong);
use CRCSync::Httpd;
use CRCSync::Test;

my $n = CRCSync::ClientAlone::BLOCKS;
my @html = ('Content-Type' => 'text/html');

# --- auto: about a third of the square root of the size, blocks of 64 bytes at least
my $auto = CRCSync::ClientAlone->start(conf => "CRCSyncClientBlocks auto\nCRCSyncClientMinBase 1\nCacheMaxFileSize 10000000\n");
for my $size (64, 100, 1_000, 10_000, 100_000, 300_000, 1_000_000) {
    my $page = substr text($size + 100, $size), 0, $size;
    $auto->base_ok("/$size", $page);
    $auto->body_ok("/$size", $page, "$size bytes");
    my ($fs, $count) = CRCSync::Delta::parse_if_block(field(($auto->requests)[0], 'If-Block'));
    my $want = sqrt($size) / 3;
    is($fs, $size, "$size bytes: the size");
    cmp_ok($count, '>=', $want * 0.5, "$size bytes: $count blocks are enough") if $want * 64 < $size && $want < 200;
    cmp_ok($count, '<=', $want * 1.5 + 1, "$size bytes: $count blocks are not too many");
    cmp_ok($fs / $count, '>=', 64, "$size bytes: $count blocks are not too short");
}
my $tiny = 'x' x 63;
$auto->base_ok('/tiny', $tiny);
$auto->body_ok('/tiny', $tiny, 'less than a block');
is(field(($auto->requests)[0], 'If-Block'), undef, 'less than a block: no If-Block');
is($auto->note('reason'), 'too-small', 'less than a block: the reason');

# --- deltas that cost more than they save: stop, try again, go on when they pay
my $alone = CRCSync::ClientAlone->start;
my $page = random_bytes(20_000, 1);
$alone->base_ok('/page', $page);
my $worthless = literal($page) . strong($page);
$alone->delta('/page', $worthless);

sub sent {
    my ($fetches) = @_;
    my @sent;
    for (1 .. $fetches) {
        $alone->body_ok('/page', $page, 'a page that changes everywhere');
        push @sent, defined field(($alone->requests)[0], 'If-Block') ? 1 : 0;
    }
    return join '', @sent;
}
my $history = sent(60);
note("If-Block sent: $history");
like($history, qr/^1/, 'If-Block is sent at first');
like($history, qr/0/, 'and then not');
is($alone->note('reason'), 'not-paying', 'the reason') if $history =~ /0$/;
unlike(substr($history, 30), qr/11/, 'in the end no two in a row');
unlike($history, qr/0{10}/, 'at the tenth fetch at the latest it is tried again');
like(substr($history, 30), qr/1/, 'it is tried again');
my ($good) = make_delta($page, $n, map { [$_] } 0 .. $n - 1);
$alone->delta('/page', $good);
like(sent(30), qr/1{15}$/, 'deltas that pay are asked for each time');

# --- an upstream that knows nothing of If-Block is not sent it for ever
my $plain = CRCSync::Origin->start;
my $client = CRCSync::Httpd->start(
    name    => 'client',
    without => ['crccache_server'],
    vars    => {TO => $plain->port},
    conf    => qq{ProxyPass / http://127.0.0.1:\@TO\@/\nCRCSyncClient On\n},
);
$plain->put('/page', body => $page, fields => [@html]);
my $asked = '';
for (1 .. 40) {
    is_body(http_get($client->port, '/page')->{body}, $page, 'a plain upstream');
    $asked .= defined field(($plain->requests)[0], 'If-Block') ? 1 : 0;
}
note("If-Block sent: $asked");
like($asked, qr/^0110100100001/, 'a plain upstream: from the second full answer on it pauses');
my $last = substr $asked, 20;
cmp_ok(($last =~ tr/1//), '<=', 4, 'a plain upstream is seldom sent If-Block in the end');
is(($client->log(2))[1]{reason}, 'peer-without-crcsync', 'a plain upstream: the reason');

# --- the counters
my $status = CRCSync::ClientAlone->start(conf => qq{<Location "/crcsync-status">\n    SetHandler crcsync-status\n    ProxyPass !\n</Location>\n});
my $text = text(20_000, 3);
$status->base_ok('/page', $text);
my ($delta, $new) = make_delta($text, $n, 'new', map { [$_] } 0 .. $n - 1);
$status->delta('/page', $delta);
$status->body_ok('/page', $new, 'a delta');
$status->delta('/page', 'X');
$status->full('/page', body => $new, fields => [@html]);
$status->body_ok('/page', $new, 'a corrupt one');
# The server module is there, and has a reason of its own to send all of it; what the client knows itself counts more.
my @capable = (@html, Capability => 'crcsync; m=1', Vary => 'If-Block');
for my $try (['peer-declined' => @capable], ['no-store' => @capable, 'Cache-Control' => 'no-store'],
    ['peer-without-crcsync' => @html])
{
    my ($reason, @fields) = @$try;
    $status->base_ok("/$reason", $text);
    $status->with_if_block("/$reason", body => $text, fields => [@fields]);
    $status->body_ok("/$reason", $text, "$reason: in full");
    is(defined field(($status->requests)[0], 'If-Block'), 1, "$reason: asked with If-Block");
    is($status->note('reason'), $reason, "in full with If-Block: $reason");
}
$status->get('/page', Range => 'bytes=0-9');
my %count = map { split /: / } split /\n/, http_get($status->port, '/crcsync-status?auto')->{body};
my %want = (Requests => 10, Full => 7, Delta => 1, Refetched => 1, Bypassed => 1, ReasonCorruptDelta => 1, ReasonRange => 1,
    ReasonNoBase => 4, ReasonPeerDeclined => 1, Faults => 0);
is($count{"CRCSyncClient$_"}, $want{$_}, "counted: $_") for sort keys %want;
cmp_ok($count{CRCSyncClientWireBytes}, '>', 40_000, 'counted: WireBytes');
is($count{CRCSyncClientLiteralBytes}, 3, 'counted: LiteralBytes');

# The notes of a delta.
my $log = ($status->client->log(2))[1];
is($log->{base}, 'self', 'note: base');
is($log->{'instance-bytes'}, length $new, 'note: instance-bytes');
is($log->{'wire-bytes'}, length $delta, 'note: wire-bytes');
is($log->{'request-bytes'}, length('If-Block: ' . if_block($text, $n) . "\r\n"), 'note: request-bytes');
is($log->{'literal-bytes'}, 3, 'note: literal-bytes');
is($log->{ratio}, int(100 * length($delta) / length $new), 'note: ratio');

expect_log(qr/the delta gives no instance/);
done_testing;
