# Peers that stop in the middle, or send one byte at a time: httpd's own timeouts end them, the reader gets the page or an
# error, and no child waits or spins in our code.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(block literal strong);
use CRCSync::Pair;
use CRCSync::ServerAlone;
use CRCSync::Test;

my $n = CRCSync::ClientAlone::BLOCKS;
my $page = text(20_000, 1);
my $new = substr($page, 0, 10_000) . 'news' . substr $page, 10_000;
my $delta = literal('new') . block(0) . literal('x' x 30) . strong('new' . substr($page, 0, int(length($page) / $n)) . 'x' x 30);
my $instance = 'new' . substr($page, 0, int(length($page) / $n)) . 'x' x 30;
my $crcsync = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: crcsync\r\nContent-Length: " . length($delta) . "\r\n\r\n";

# CPU time of a server's children, in seconds.
sub cpu {
    my ($httpd) = @_;
    my $ticks = 0;
    for my $pid ($httpd->children) {
        my @stat = split ' ', CRCSync::Work::slurp("/proc/$pid/stat") =~ s/.*\) //sr;
        $ticks += $stat[11] + $stat[12];
    }
    return $ticks / 100;
}

# --- a far end that stops, each time at another place
my %stops = (
    '/nothing'   => '',
    '/line'      => 'HTTP/1.1 2',
    '/head'      => substr($crcsync, 0, 60),
    '/no-body'   => $crcsync,
    '/section'   => $crcsync . substr($delta, 0, 3),
    '/delta'     => $crcsync . substr($delta, 0, -1),
);
my $far = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $target = $request->{target};
        if (!defined field($request, 'If-Block')) {
            $connection->send(CRCSync::Origin::response(body => $page, fields => ['Content-Type' => 'text/html']));
        }
        elsif ($target eq '/slow') {
            $connection->send($crcsync);
            for my $byte (split //, substr $delta, 0, 40) {
                $connection->send($byte);
                select undef, undef, undef, 0.05;
            }
            $connection->send(substr $delta, 40);
        }
        else {
            $connection->send($stops{$target});
            # Until the other side has had enough.
            sysread $connection->socket, my $rest, 1;
            $connection->close;
        }
    }
);
my $client = CRCSync::Httpd->start(
    name    => 'client',
    without => ['crccache_server'],
    modules => ['reqtimeout'],
    vars    => {TO => $far->port},
    conf    => CRCSync::Pair::client_conf() . "CRCSyncClientBlocks $n\nProxyTimeout 1\nTimeout 2\nRequestReadTimeout header=2 body=2\n",
);
my @children = $client->children;
my $before = cpu($client);
for my $target (sort keys %stops) {
    my $sent = $stops{$target};
    is_body(http_get($client->port, $target)->{body}, $page, "$target: a base");
    my $response = http_get($client->port, $target);
    # Who has not sent a line is not waited for twice.
    if ($sent =~ /\n/) {
        is_body($response->{body}, $page, "a far end that stops after " . length($sent) . ' bytes: the page, by a second fetch');
    }
    else {
        like($response->{status}, qr/^50[24]$/, 'a far end that sends no line: a clean error');
        ok($response->{complete}, 'a whole one');
    }
    is_body(http_get($client->port, '/other')->{body}, $page, "$target: another page meanwhile") if $target eq '/delta';
}
is_body(http_get($client->port, '/slow')->{body}, $page, 'a base');
is_body(http_get($client->port, '/slow')->{body}, $instance, 'a far end that sends a byte at a time: the page');
cmp_ok(cpu($client) - $before, '<', 3, 'the children wait, they don\'t spin');

# --- a reader who stops: in the middle of his request, or of reading
my $log = $client->log_count;
my $half = CRCSync::Http->new($client->port);
$half->send_raw("GET /other HTTP/1.1\r\nHost: x\r\nX-Half");
my $answer = $half->response;
ok(!$answer || $answer->{status} == 408, 'half a request is ended');
is_deeply([grep { my $pid = $_; !grep { $_ == $pid } $client->children } @children], [], 'no child has ended');

# --- the server module: an origin that stops, and a near end that does not read
my $origin = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        if ($request->{target} eq '/large') {
            my $part = random_bytes(100_000, 7);
            $connection->send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 30000000\r\n\r\n");
            for (1 .. 300) {
                $connection->send($part) or last;
            }
            $connection->close;
            return;
        }
        if ($request->{target} eq '/whole') {
            $connection->send(CRCSync::Origin::response(body => $new, fields => ['Content-Type' => 'text/html']));
            return;
        }
        my $head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: " . length($new) . "\r\n\r\n";
        $connection->send(substr $head . $new, 0, $request->{target} eq '/origin-head' ? 30 : 15_000);
        sysread $connection->socket, my $rest, 1;
        $connection->close;
    }
);
my $server = CRCSync::ServerAlone->start(to => $origin->port, conf => "ProxyTimeout 1\nTimeout 2\n");
@children = $server->httpd->children;
$before = cpu($server->httpd);
my $response = $server->ask($page, $n, '/origin-head');
like($response->{status}, qr/^50[24]$/, 'an origin that stops in its head: an error');
$response = $server->ask($page, $n, '/origin-body');
ok(!$response->{complete}, 'an origin that stops in its body: the delta is cut off');
is($server->log->{reason}, 'upstream-error', 'the reason');
$response = $server->ask($page, $n, '/whole');
$server->is_delta($response, $page, $n, $new, 'the next page');

$log = $server->httpd->log_count;
my $deaf = CRCSync::Http->new($server->port);
setsockopt $deaf->socket, Socket::SOL_SOCKET(), Socket::SO_RCVBUF(), pack 'i', 4_096;
$deaf->send_request(GET => '/large', fields => ['If-Block' => CRCSync::Delta::if_block($page, $n)]);
CRCSync::Work::wait_for('the server to give up a near end that does not read', sub { $server->httpd->log_count > $log });
$deaf->close;
is($server->httpd->last_log($log + 1)->{reason}, 'truncated', 'a near end that does not read is ended');
cmp_ok(cpu($server->httpd) - $before, '<', 5, 'the children wait, they don\'t spin');
$server->children_live(@children);

allow_log(qr/\[proxy|gives no instance|the response is cut off|AH0\d+: /);
done_testing;
