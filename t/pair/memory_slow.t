# C19, C13, C18: memory while a reader is slow, while a stream has no end, and after a reader has left.
use strict;
use warnings;

use CRCSync::Delta qw(if_block);
use CRCSync::Memory qw(server_bound client_bound growth);
use CRCSync::Pair;
use CRCSync::Reader qw(read_body start_reader);
use CRCSync::Test;
use POSIX ();
use Time::HiRes qw(sleep);

my $part = random_bytes(1_000_000, 2);

# /N.TYPE: N parts of 1 MB. /events: events without end. /pieces/N: N pieces of 50 bytes. These are sent one by one.
my %type = (jpeg => 'image/jpeg', html => 'text/html');
my $origin = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my ($name) = $request->{target} =~ m{^/(\w+)};
        if ($name eq 'events' || $name eq 'pieces') {
            my ($most) = $request->{target} =~ m{pieces/(\d+)};
            my $type = $most ? 'text/html' : 'text/event-stream';
            $connection->send("HTTP/1.1 200 OK\r\nContent-Type: $type\r\nTransfer-Encoding: chunked\r\n\r\n");
            for (my $n = 1; !$most || $n <= $most; ++$n) {
                my $event = sprintf "data: %-42d\n\n", $n;
                $connection->send(sprintf "%x\r\n%s\r\n", length $event, $event) or return;
            }
            $connection->send("0\r\n\r\n");
            return;
        }
        my ($type) = map { $type{$_} } $request->{target} =~ /\.(\w+)/;
        my $length = $name * (8 + length $part);
        $connection->send("HTTP/1.1 200 OK\r\nContent-Type: $type\r\nContent-Length: $length\r\n\r\n");
        for (1 .. $name) {
            $connection->send(sprintf('%08d', $_) . $part) or return;
        }
    }
);
my $hold = 1_000_000;
# The kernel's buffers are small, so that what a reader has not read is httpd's burden, and no reader takes too long.
my $patient = "Timeout 900\nSendBufferSize 65536\nProxyReceiveBufferSize 65536\n";
my $pair = CRCSync::Pair->start(
    to     => $origin->port,
    relay  => 0,
    server => $patient,
    client => "${patient}CRCSyncClientHoldMemory $hold\nCacheMaxFileSize 2000000\nCRCSyncClientMaxInstance 8G\n",
);
my ($server, $client) = map { 'http://127.0.0.1:' . $pair->$_->port } qw(server client);
my @does_not_fit = ('If-Block' => if_block(random_bytes(1_000_000, 3), 40));

# What one request may take, of the modules and of httpd as a proxy.
my %bound = (server => 1_024 + server_bound(block => 50_000), client => 1_024 + client_bound(hold => $hold));

sub watch { return map { $_ => CRCSync::Memory->new($pair->$_) } qw(server client) }

sub grown_ok {
    my ($memory, $requests, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    for my $side (qw(server client)) {
        my ($grown, $bound) = ($memory->{$side}->grown, $requests->{$side} * $bound{$side});
        cmp_ok($grown, '<=', $bound, "$what: the $side proxy has grown by $grown kB");
        figure(sprintf('%s: %s proxy grown, kB (bound %d)', $what, $side, $bound) => $grown);
    }
    return;
}

# The log line of a request, once it is there; lines of readers who have left may come late.
sub line_of {
    my ($httpd, $url) = @_;
    my $line = CRCSync::Work::wait_for("the log line of $url", sub { (grep { $_->{url} eq $url } $httpd->log(0))[-1] });
    return $line;
}

# All code has been used.
for my $type (sort keys %type) {
    is(read_body("$client/1.$type?same")->{exit}, 0, "warm-up, $type, turn $_") for 1, 2;
    is(read_body("$server/1.$type", fields => \@does_not_fit)->{exit}, 0, "warm-up of the server proxy, $type");
}

# --- Readers of 10 kB/s, all at once: from the server proxy a delta that has all in it, a compressed one and a plain page;
# from the client proxy a full page.
my $seconds = soak(fast => 5, full => 600);
my $megabytes = soak(fast => 50, full => 500);
my %memory = watch();
my %reader = (
    'a delta'            => [\@does_not_fit, "$server/$megabytes.jpeg"],
    'a compressed delta' => [\@does_not_fit, "$server/$megabytes.html"],
    'a plain page'       => [[], "$server/$megabytes.jpeg"],
    'a full page'        => [[], "$client/$megabytes.jpeg"],
);
my %wait;
for my $name (sort keys %reader) {
    my ($fields, $url) = @{$reader{$name}};
    $wait{$name} = start_reader($url, fields => $fields, rate => '10k', seconds => $seconds);
}
my $samples = 30;
my %held;
for (1 .. $samples) {
    sleep $seconds / $samples;
    push @{$held{$_}}, CRCSync::Memory::children_hold($pair->$_) for qw(server client);
}
for my $name (sort keys %wait) {
    my $read = $wait{$name}->();
    is($read->{exit}, 28, "C19: $name at 10 kB/s is still being read after $seconds s");
    cmp_ok($read->{bytes}, '>', 0, "C19: $name: some of it has come");
    figure("C19: $name at 10 kB/s for $seconds s, bytes" => $read->{bytes});
}
grown_ok(\%memory, {server => 4, client => 1}, "C19: readers of 10 kB/s for $seconds s");
for my $side (qw(server client)) {
    my $climbed = growth(@{$held{$side}});
    cmp_ok($climbed, '<', 1_000, "C19: readers of 10 kB/s: the $side proxy climbs by $climbed kB");
}

# --- Small pieces, each flushed by the origin.
my $pieces = soak(fast => 20_000, full => 1_000_000);
%memory = watch();
my $read = read_body("$client/pieces/$pieces");
is($read->{bytes}, 50 * $pieces, "C19: $pieces small pieces");
is(read_body("$server/pieces/$pieces", fields => \@does_not_fit)->{exit}, 0, "C19: $pieces small pieces as a delta");
grown_ok(\%memory, {server => 1, client => 1}, "C19: $pieces small pieces");

# --- Events without end.
my $bytes = soak(fast => 2_000_000, full => 100_000_000);
for my $side (qw(server client)) {
    my $http = CRCSync::Http->new($pair->$side->port);
    $http->send_request(GET => '/events', fields => [$side eq 'server' ? @does_not_fit : ()]);
    my ($seen, $step, @held) = (0, 0);
    my $begun;
    $http->response(
        progress => sub {
            my ($message) = @_;
            return 0 unless $message;
            $begun //= {watch()};
            $seen += length $message->{body};
            $message->{body} = $message->{raw} = '';
            if ($seen > $step * $bytes / 30) {
                push @held, CRCSync::Memory::children_hold($pair->$side);
                ++$step;
            }
            return $seen >= $bytes;
        }
    );
    $http->close;
    cmp_ok($seen, '>=', $bytes, "C13: from the $side proxy: $bytes bytes of events without end");
    grown_ok($begun, {server => 1, client => 1}, "C13: events without end, from the $side proxy");
    my $climbed = growth(@held);
    cmp_ok($climbed, '<', 1_000, "C13: while they come, the $side proxy climbs by $climbed kB");
}

# --- A reader who leaves in the middle of a large delta.
my $large = soak(fast => 100, full => 1000);
my $http = CRCSync::Http->new($pair->server->port);
$http->send_request(GET => "/$large.jpeg?leave", fields => \@does_not_fit);
my $got = 0;
$http->response(
    progress => sub {
        my ($message) = @_;
        return 0 unless $message;
        $got += length $message->{body};
        $message->{body} = $message->{raw} = '';
        return $got > 1_000_000;
    }
);
$http->close;
my $log = line_of($pair->server, "/$large.jpeg?leave");
is("$log->{result} $log->{reason}", 'delta truncated', "C18: the reader has left a delta of $large MB");
cmp_ok($log->{'instance-bytes'}, '<', $got + 20_000_000, 'C18: the filter has not read on');
figure("C18: bytes of a page of $large MB that were read for a reader who left" => $log->{'instance-bytes'});

# The same through both: the base of /grows is its first version, before and after.
my $size = CRCSync::Work::new_dir('size') . '/size';
my $growing = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $parts = slurp($size);
        my $length = $parts * (8 + length $part);
        $connection->send("HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: $length\r\n\r\n");
        for my $n (1 .. $parts) {
            # The client looks for its reader once a second, and all may have come before.
            sleep 2 if $n == 5;
            # Other bytes than the base's, so that the delta is as large as the page.
            my $bytes = $n == 1 ? $part : $part ^ chr($n % 255 + 1) x length $part;
            $connection->send(sprintf('%08d', $n) . $bytes) or return;
        }
    }
);
my $leaving = CRCSync::Pair->start(
    to     => $growing->port,
    relay  => 0,
    client => "CRCSyncClientHoldMemory $hold\nCacheMaxFileSize 2000000\nCRCSyncClientMaxInstance 8G\n",
);
spew($size, 1);
my ($first) = $leaving->get('/grows');
is(length $first->{body}, 8 + length $part, 'C18: a base of 1 MB');
is(($leaving->get('/grows'))[0]{body} eq $first->{body}, 1, 'C18: a delta against it');
my ($log_before) = $leaving->client->last_log(2);
spew($size, $large);
my %leaving = map { $_ => CRCSync::Memory->new($leaving->$_) } qw(server client);
for my $after (0, 1_000_000) {
    # At once, while the client proxy holds the page; and while it is sent.
    my $lines = $leaving->client->log_count;
    $http = CRCSync::Http->new($leaving->port);
    $http->send_request(GET => '/grows');
    my $seen = 0;
    if ($after) {
        $http->response(
            progress => sub {
                my ($message) = @_;
                return 0 unless $message;
                $seen += length $message->{body};
                $message->{body} = $message->{raw} = '';
                return $seen > $after;
            }
        );
    }
    # A reset, as from a reader whose machine has gone.
    setsockopt $http->socket, Socket::SOL_SOCKET(), Socket::SO_LINGER(), pack 'ii', 1, 0;
    $http->close;
    my $line = $leaving->client->last_log($lines + 1);
    is($line->{reason}, $after ? 'too-large' : 'truncated', "C18: the reader has left after $after bytes");
}
for my $side (qw(server client)) {
    my $grown = $leaving{$side}->grown;
    cmp_ok($grown, '<=', $bound{$side}, "C18: readers have left: the $side proxy has grown by $grown kB");
    figure("C18: readers of $large MB have left: $side proxy grown, kB (bound $bound{$side})" => $grown);
}
spew($size, 1);
my ($again) = $leaving->get('/grows');
is($again->{body} eq $first->{body}, 1, 'C18: the small page again');
my $log_after = $leaving->client->last_log($leaving->client->log_count);
is($log_after->{result}, 'delta', 'C18: as a delta');
is($log_after->{'wire-bytes'}, $log_before->{'wire-bytes'}, 'C18: the base is unchanged');

allow_log(qr/\[cache_disk:|store-limit|\[proxy|the response is cut off|AH0\d+: .*(?:prefetch|client)/);
done_testing;
