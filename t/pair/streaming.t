# Bodies that come slowly: flushes go through, events do not wait for each other (C13, C14).
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;
use IO::Select;

# /events: sends event k + 1 only when the file ack.k is there. /pieces/N/SEED: a body flushed after each N bytes.
my $acks = CRCSync::Work::new_dir('acks');
my $answer =
    sub {
        my ($request, $connection) = @_;
        if ($request->{target} =~ m{^/events}) {
            $connection->send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
            for my $k (1 .. 5) {
                my $event = "id: $k\ndata: event number $k\n\n";
                $connection->send(sprintf "%x\r\n%s\r\n", length $event, $event);
                CRCSync::Work::wait_for("ack $k", sub { -e "$acks$request->{target}.$k" });
            }
            $connection->send("0\r\n\r\n");
        }
        elsif ($request->{target} =~ m{^/becomes/(\w+)} && $request->{number} > 1) {
            # What was a page is a stream now, whose first event could be the beginning of a delta: of its strong hash.
            my $type = $1 eq 'events' ? 'text/event-stream' : 'application/x-ndjson';
            $connection->send("HTTP/1.1 200 OK\r\nContent-Type: $type\r\nTransfer-Encoding: chunked\r\n\r\n");
            for my $k (1 .. 3) {
                my $event = "S\ndata: e$k\n\n";
                $connection->send(sprintf "%x\r\n%s\r\n", length $event, $event);
                CRCSync::Work::wait_for("ack $k", sub { -e "$acks$request->{target}.$k" });
            }
            $connection->send("0\r\n\r\n");
        }
        elsif ($request->{target} =~ m{^/becomes/}) {
            $connection->send(CRCSync::Origin::response(body => text(20_000), fields => ['Content-Type' => 'text/html']));
        }
        elsif ($request->{target} =~ m{^/pieces/(\d+)/}) {
            my $size = $1;
            my $page = substr text(40_000), 0, $size < 10 ? 4_000 : 40_000;
            $page =~ s/time/sprintf '%04d', $request->{number}/e;
            $connection->send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n");
            $connection->send(sprintf "%x\r\n%s\r\n", length $_, $_) for unpack "(a$size)*", $page;
            $connection->send("0\r\n\r\n");
        }
    };
my $origin = CRCSync::Origin->start($answer);
my %streams;
mkdir "$acks/events" or die;
my $pair = CRCSync::Pair->start(to => $origin->port);

for my $turn (1 .. 2) {
    my $client = CRCSync::Http->new($pair->port);
    $client->send_request(GET => "/events/$turn");
    my $seen = 0;
    my $response = $client->response(
        progress => sub {
            my ($message) = @_;
            while ($message && $message->{body} =~ /data: event number @{[$seen + 1]}\n\n/) {
                $seen++;
                spew("$acks/events/$turn.$seen", '');
            }
            return 0;
        }
    );
    is($seen, 5, "C13: stream $turn: each event came before the next was sent");
    ok($response && $response->{complete}, "stream $turn: and its end");
}

# The same of a page that has a base.
mkdir "$acks/becomes" or die;
for my $what ('events', 'lines') {
    my $target = "/becomes/$what";
    $streams{$what} = CRCSync::Origin->start($answer);
    my $stream = CRCSync::Pair->start(to => $streams{$what}->port);
    $stream->body_ok($target, text(20_000), "a page that becomes $what");
    my $client = CRCSync::Http->new($stream->port);
    $client->send_request(GET => $target);
    my $seen = 0;
    $client->response(
        progress => sub {
            my ($message) = @_;
            while ($message && $message->{body} =~ /data: e@{[$seen + 1]}\n\n/) {
                $seen++;
                spew("$acks$target.$seen", '');
            }
            return 0;
        }
    );
    is($seen, 3, "C13: a page that becomes $what: each event came before the next was sent");
    ok(defined field(($stream->relay->exchanges)[-1]{request}, 'If-Block'), "C13: a page that becomes $what: it had a base");
}

for my $piece (1, 7, 1_000, 4_096) {
    for my $turn (1 .. 3) {
        my ($response, @exchanges) = $pair->get("/pieces/$piece/x");
        my $sent = $exchanges[0]{response};
        ok($response && $response->{complete}, "pieces of $piece, fetch $turn: complete");
        like($response->{body}, qr/\d{4}/, "pieces of $piece, fetch $turn: a page with its number");
        my $want = substr text(40_000), 0, $piece < 10 ? 4_000 : 40_000;
        my ($number) = $response->{body} =~ /(\d{4})/;
        $number = ($origin->requests)[-1]{number};
        $want =~ s/time/sprintf '%04d', $number/e;
        is_body($response->{body}, $want, "C14: pieces of $piece, fetch $turn: bytes");
        is(field($sent, 'Content-Encoding'), 'crcsync', "pieces of $piece, fetch $turn: a delta") if $turn > 1;
    }
}

# The first fetch is not held back: its first part reaches the reader before the origin has sent the second.
my $gate = "$acks/gate";
my $slow = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $page = text(30_000);
        $connection->send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n");
        $connection->send(sprintf "%x\r\n%s\r\n", 20_000, substr $page, 0, 20_000);
        CRCSync::Work::wait_for('the gate', sub { -e $gate });
        $connection->send(sprintf "%x\r\n%s\r\n", 10_000, substr $page, 20_000);
        $connection->send("0\r\n\r\n");
    }
);
my $second = CRCSync::Pair->start(to => $slow->port);
my $client = CRCSync::Http->new($second->port);
$client->send_request(GET => '/slow');
my $early = $client->response(progress => sub { $_[0] && length $_[0]{body} >= 20_000 });
is(length $early->{body}, 20_000, 'C14: the first part of a first fetch is there while the origin waits');
spew($gate, '');
is_body($client->response->{body}, text(30_000), 'and then the rest');

# A delta, too, leaves the server module before the origin has sent all: seen on the line, not by the reader, whose part
# is held until it is verified.
unlink $gate;
$second->relay->exchanges;
$client = CRCSync::Http->new($second->port);
$client->send_request(GET => '/slow');
my $down = CRCSync::Work::wait_for(
    'the start of the delta on the line',
    sub {
        my ($answer) = map { $_->{response} } $second->relay->exchanges_so_far;
        return $answer && length $answer->{body} > 10 ? $answer : 0;
    }
);
is(field($down, 'Content-Encoding'), 'crcsync', 'a delta starts while the origin waits');
ok(!$down->{complete}, 'and has not ended');
spew($gate, '');
is_body($client->response->{body}, text(30_000), 'the page, once it is verified');

done_testing;
