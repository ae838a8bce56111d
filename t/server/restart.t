# Graceful restarts, the counters that live through them, and the page that shows them.
use strict;
use warnings;

use CRCSync::Delta qw(if_block);
use CRCSync::ServerAlone;
use CRCSync::Test;

my $server = CRCSync::ServerAlone->start(conf => <<'END');
<Location /status>
    CRCSyncServer Off
    SetHandler crcsync-status
</Location>
END
my $page = text(30_000, 1);
my @ask = ('changed' . $page, 30);
$server->page('page.html', $page);

sub counters {
    my $response = http_get($server->port, '/status?auto');
    is($response->{status}, 200, 'the status page');
    like(field($response, 'Content-Type'), qr{^text/plain}, 'is text');
    like($response->{body}, qr/^(?:CRCSync\w+: \d+\n)+$/, 'lines of names and numbers');
    # The status page's own requests are logged, without notes.
    $server->httpd->log(++$server->{asked});
    return map { /^(\w+): (\d+)$/ ? ($1, $2) : () } split /\n/, $response->{body};
}

my %before = counters();
is($before{CRCSyncServerRequests}, 0, 'nothing counted yet');
ok(exists $before{"CRCSyncServer$_"}, "the counter $_")
    for qw(Requests Delta Full NotModified Refetched Bypassed InstanceBytes WireBytes RequestBytes LiteralBytes Faults
    ReasonNoBase ReasonNotGet ReasonMethod ReasonRange ReasonBadIfBlock ReasonBlockLimit ReasonEventStream
    ReasonUpstreamError);

my $delta = $server->ask(@ask, '/page.html');
$server->is_delta($delta, @ask, $page, 'a delta');
my $tag = field($server->get('/page.html'), 'ETag');
$server->get('/page.html', 'If-None-Match' => $tag);
$server->request(HEAD => '/page.html');
$server->get('/page.html', 'If-Block' => 'nonsense');
my $log = ($server->httpd->log($server->{asked}))[1];
my %after = counters();
my $field = if_block(@ask);
my %want = (
    Requests           => 5,
    Delta              => 1,
    Full               => 2,
    NotModified        => 1,
    Bypassed           => 1,
    Refetched          => 0,
    ReasonNoBase       => 1,
    ReasonMethod       => 1,
    ReasonBadIfBlock   => 1,
    InstanceBytes      => 3 * length $page,
    WireBytes          => length($delta->{body}) + 2 * length $page,
    RequestBytes       => length("If-Block: $field\r\n") + length("If-Block: nonsense\r\n"),
    LiteralBytes       => $log->{'literal-bytes'},
    Faults             => 0,
);
is($after{"CRCSyncServer$_"}, $want{$_}, "$_ is counted") for sort keys %want;
is(http_request($server->port, HEAD => '/status?auto')->{body}, '', 'HEAD of the status page');
$server->httpd->log(++$server->{asked});
is(http_request($server->port, POST => '/status', body => 'x')->{status}, 405, 'POST to it');
$server->httpd->log(++$server->{asked});

# All children count in one place, and restarts keep what they counted.
for my $turn (1 .. 5) {
    $server->httpd->graceful;
    $server->is_delta($server->ask(@ask, '/page.html'), @ask, $page, "after restart $turn");
    my %now = counters();
    is($now{CRCSyncServerRequests}, 5 + $turn, "restart $turn: the count goes on");
    is($now{CRCSyncServerDelta}, 1 + $turn, "restart $turn: so does that of deltas");
}

# A response that is being sent during a restart ends well.
my $large = random_bytes(1_000_000, 1) x 20;
$server->page('large.bin', $large);
my $client = CRCSync::Http->new($server->port);
$client->send_request(GET => '/large.bin', fields => ['If-Block' => $field]);
$client->response(progress => sub { $_[0] && length $_[0]{body} });
$server->httpd->graceful;
$server->is_delta($client->response, @ask, $large, 'a delta that outlives its configuration');
$server->{asked}++;

# The module is switched off and on again by restarts.
$server->httpd->change_conf(sub { s/^CRCSyncServer On/CRCSyncServer Off/m });
$server->httpd->graceful;
my $response = $server->ask(@ask, '/page.html');
is_body($response->{body}, $page, 'switched off: the page');
is(field($response, 'Vary'), undef, 'switched off: no Vary');
$server->httpd->change_conf(sub { s/^CRCSyncServer Off/CRCSyncServer On/m });
$server->httpd->graceful;
$server->is_delta($server->ask(@ask, '/page.html'), @ask, $page, 'switched on again');

# Many requests on one connection.
$client = CRCSync::Http->new($server->port);
for my $turn (1 .. 30) {
    my $answer = $client->request(GET => '/page.html', fields => [$turn % 3 ? ('If-Block' => $field) : ()]);
    my $coding = field($answer, 'Content-Encoding') // '';
    is($coding, $turn % 3 ? 'crcsync' : '', "request $turn on a kept connection");
    my $body = $turn % 3 ? CRCSync::Delta::apply_delta($answer->{body}, @ask) : $answer->{body};
    is_body($body, $page, "request $turn: bytes");
}

done_testing;
