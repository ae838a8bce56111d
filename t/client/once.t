# What a fault may cost upstream: a delta that is no use costs one more request, not two, and not for ever; a request
# that changes something is sent once, whatever happens to it. Counted at the origin.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(block strong make_delta);
use CRCSync::Pair;
use CRCSync::Test;
use POSIX ();
use Socket qw(SOL_SOCKET SO_LINGER);

my $n = CRCSync::ClientAlone::BLOCKS;
my $base = text(20_000, 1);
my $page = text(20_000, 2);
my @html = ('Content-Type' => 'text/html');
my @crcsync = (@html, 'Content-Encoding' => 'crcsync', Vary => 'If-Block', Capability => 'crcsync; m=1');

my $alone = CRCSync::ClientAlone->start(conf => <<'END_CONF');
<Location "/status">
    ProxyPass "!"
    SetHandler crcsync-status
</Location>
END_CONF

# The counters that the status handler shows.
sub counter {
    my ($name) = @_;
    return $alone->get('/status?auto')->{body} =~ /^CRCSyncClient$name: (\d+)$/m ? $1 : -1;
}

# A delta of each kind that gives no instance.
my ($good) = make_delta($base, $n, 'new', map { [$_] } 0 .. $n - 1);
my %useless = (
    'hash-mismatch' => block(0) . strong('something else'),
    'corrupt-delta' => block(0) . 'X',
    truncated       => substr($good, 0, length($good) / 2),
);

# --- one fault: one refetch, a new base, a counter, a line in the log
for my $reason (sort keys %useless) {
    my $target = "/one-$reason";
    $alone->base_ok($target, $base);
    $alone->delta($target, $useless{$reason});
    $alone->full($target, body => $page, fields => [@html]);
    my $counter = 'Reason' . join '', map { ucfirst } split /-/, $reason;
    my @before = map { counter($_) } $counter, 'Refetched';
    $alone->body_ok($target, $page, $reason);
    is(scalar(my @requests = $alone->requests), 2, "$reason: fetched again, once");
    is(counter($counter), $before[0] + 1, "$reason: $counter counts it");
    is(counter('Refetched'), $before[1] + 1, "$reason: Refetched counts it");
    expect_log(qr{:error\] .*crcsync: \Q$target\E: the delta gives no instance \(});
    # What the second fetch gave is the base now: a delta against it is good.
    my ($delta, $newer) = make_delta($page, $n, 'newer', map { [$_] } 0 .. $n - 1);
    $alone->delta($target, $delta);
    $alone->body_ok($target, $newer, "$reason: a delta against the new base");
    is($alone->note('result'), 'delta', "$reason: a delta again");
}

# --- a fault that stays: the first two fetches are doubled, then no If-Block is sent. For one URL, and for many at once.
my $fetches = 20;
for my $urls (1, 2, 6) {
    my @targets = map { "/many$urls-$_" } 1 .. $urls;
    for my $target (@targets) {
        $alone->base_ok($target, $base);
        $alone->delta($target, $useless{'hash-mismatch'});
        $alone->full($target, body => $base, fields => [@html]);
    }
    for my $fetch (1 .. $fetches) {
        for my $target (@targets) {
            is($alone->get($target)->{body}, $base, "fetch $fetch of $target");
        }
    }
    my %count;
    $count{$_->{target}}[defined field($_, 'If-Block') ? 1 : 0]++ for $alone->requests;
    for my $target (@targets) {
        is($count{$target}[1], 2, "$target: requests with If-Block");
        is($count{$target}[0], $fetches, "$target: requests without");
    }
}

# --- the second fetch fails as well: a clean error, and no third
for my $answer (
    [502, 'breaks off in its head', raw => "HTTP/1.1 200 OK\r\nContent-Le", close => 1],
    [502, 'is a delta', body => $good, fields => [@crcsync]],
    [431, 'is refused', status => 431, body => 'no'],
    [503, 'is an error page', status => 503, body => 'down', fields => [@html]],
    )
{
    my ($status, $how, %answer) = @$answer;
    my $target = '/fails-' . $how =~ s/ /-/gr;
    for my $first ([body => $useless{'hash-mismatch'}, fields => [@crcsync]], [status => 431, body => 'no']) {
        $alone->base_ok($target, $base);
        $alone->full($target, %answer);
        $alone->with_if_block($target, @$first);
        my $response = $alone->get($target);
        is($response->{status}, $status, "the second fetch $how: status");
        ok($response->{complete}, "the second fetch $how: complete");
        my @sent = map { defined field($_, 'If-Block') ? 1 : 0 } $alone->requests;
        like("@sent", qr/^1(?: 0){1,2}$/, "the second fetch $how: and that is all") or diag("@sent");
        # A connection that broke before any answer mod_proxy itself tries once more.
        cmp_ok(scalar @sent, '<=', $how =~ /breaks/ ? 3 : 2, "the second fetch $how: requests");
    }
}

# --- methods that change something: once, whatever the origin does
my %faults = (
    'closes at once'         => sub { $_[0]->close },
    'resets at once'         => sub { reset_connection($_[0]) },
    'half a head'            => sub { $_[0]->send("HTTP/1.1 200 OK\r\nContent-"); $_[0]->close },
    'half a body'            => sub { $_[0]->send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"); $_[0]->close },
    'half a body, reset'     => sub { $_[0]->send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"); reset_connection($_[0]) },
    'half a chunk'           => sub { $_[0]->send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf"); $_[0]->close },
    'nonsense'               => sub { $_[0]->send("HTTP/2.7 200 nonsense\r\n\r\n"); $_[0]->close },
    'a delta'                => sub { $_[0]->send(CRCSync::Origin::response(body => $good, fields => [@crcsync])) },
    'a corrupt delta'        => sub { $_[0]->send(CRCSync::Origin::response(body => 'X', fields => [@crcsync])) },
    'an unmarked delta'      => sub { $_[0]->send(CRCSync::Origin::response(body => $good, fields => [@html])) },
    (map { my $s = $_; ("status $s" => sub { $_[0]->send(CRCSync::Origin::response(status => $s, body => 'no')) }) } 400, 413, 431, 500, 503),
);
# The origin's connection is in a process of its own, so a reset is what close() does with this option.
sub reset_connection {
    my ($connection) = @_;
    setsockopt $connection->socket, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0;
    close $connection->socket;
    POSIX::_exit(0);
}
my @names = sort keys %faults;
my $origin = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my ($number) = $request->{target} =~ m{^/(\d+)/};
        return $connection->send(CRCSync::Origin::response(body => $base, fields => [@html])) if field($request, 'X-Base');
        return $faults{$names[$number]}->($connection);
    }
);
my $client = CRCSync::Httpd->start(
    name    => 'client',
    without => ['crccache_server'],
    vars    => {TO => $origin->port},
    conf    => CRCSync::Pair::client_conf(),
);
my $kept = CRCSync::Http->new($client->port);
for my $number (0 .. $#names) {
    for my $method (qw(POST PUT DELETE PATCH)) {
        my $what = "$method, $names[$number]";
        my $target = "/$number/$method";
        # There is a base for the URL, and a connection to the origin that has been used.
        $kept = CRCSync::Http->new($client->port);
        $kept->request(GET => $target, fields => ['X-Base' => 1]);
        $origin->requests;
        my $response = http_request($client->port, $method, $target, body => 'change it');
        my @requests = $origin->requests;
        is(join(' ', map { $_->{method} } @requests), $method, "$what: the origin has it once");
        is(field($requests[0], 'If-Block'), undef, "$what: without If-Block");
        is($requests[0]{body}, 'change it', "$what: with its body");
        if ($names[$number] =~ /^status (\d+)/) {
            is($response->{status}, $1, "$what: the origin's own status");
        }
        elsif ($names[$number] eq 'an unmarked delta') {
            is_body($response->{body}, $good, "$what: what the origin sent");
        }
        else {
            ok(!$response || $response->{status} == 502 || !$response->{complete}, "$what: a failure")
                or diag("$response->{status} $response->{body}");
        }
        $kept->close;
    }
}

allow_log(qr/\[proxy(?:_http)?:|AH01102|AH01110|AH01106|AH10292|AH00898|the upstream sends nothing that can be used|gives no instance/);
done_testing;
