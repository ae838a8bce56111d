# Bodies in pieces, slow ones and large ones (C13, C14, C16): the delta goes out as it is decided.
use strict;
use warnings;

use CRCSync::Delta qw(if_block sections blocks);
use CRCSync::ServerAlone;
use CRCSync::Test;

my $gates = CRCSync::Work::new_dir('gates');
my $page = text(40_000, 1);
my @ask = ('changed' . $page, 20);

sub chunk { return sprintf "%x\r\n%s\r\n", length $_[0], $_[0] }

sub head {
    my ($type) = @_;
    return "HTTP/1.1 200 OK\r\nContent-Type: $type\r\nTransfer-Encoding: chunked\r\n\r\n";
}

# /pieces/N: flushed after each N bytes. /gated/NAME: the second half waits for a file of that name. /header: the field
# only, until the gate opens. /events: event k + 1 waits for event k to be acknowledged.
my $origin = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my (undef, $what, $argument) = split m{/}, $request->{target};
        my $wait = sub {
            my ($gate) = @_;
            CRCSync::Work::wait_for("gate $gate", sub { -e "$gates/$gate" });
        };
        $connection->send(head($what eq 'events' ? 'text/event-stream' : 'text/html'));
        if ($what eq 'pieces') {
            $connection->send(chunk($_)) for unpack "(a$argument)*", $argument < 100 ? substr $page, 0, 4_000 : $page;
        }
        elsif ($what eq 'gated') {
            $connection->send(chunk(substr $page, 0, 20_000));
            $wait->($argument);
            $connection->send(chunk(substr $page, 20_000));
        }
        elsif ($what eq 'header') {
            $wait->($argument);
            $connection->send(chunk($page));
        }
        elsif ($what eq 'events') {
            for my $k (1 .. 5) {
                $connection->send(chunk("data: event $k\n\n"));
                $wait->("event$k");
            }
        }
        $connection->send("0\r\n\r\n");
    }
);
my $server = CRCSync::ServerAlone->start(to => $origin->port);

for my $piece (1, 7, 100, 4_096, 39_999) {
    my $want = $piece < 100 ? substr $page, 0, 4_000 : $page;
    $server->is_delta($server->ask(@ask, "/pieces/$piece"), @ask, $want, "C14: flushed after each $piece bytes");
}

# What is decided reaches the client while the origin waits: all but less than one block.
sub start_asking {
    my ($target, @base) = @_;
    my $client = CRCSync::Http->new($server->port);
    $client->send_request(GET => $target, fields => ['If-Block' => if_block(@base)]);
    return $client;
}

# The bytes that whole sections of a delta in progress make; a zlib stream that goes on counts too.
sub rebuilt {
    my ($delta, @base) = @_;
    my @blocks = blocks(@base);
    my ($bytes, $at) = ('', 0);
    while ($at < length $delta) {
        my $id = substr $delta, $at, 1;
        if ($id eq 'B' && $at + 2 <= length $delta) {
            $bytes .= $blocks[ord substr $delta, $at + 1, 1];
            $at += 2;
        }
        elsif ($id eq 'L' && $at + 5 <= length $delta) {
            my $length = unpack 'N', substr $delta, $at + 1, 4;
            $bytes .= substr $delta, $at + 5, $length;
            $at += 5 + $length;
        }
        elsif ($id eq 'Z') {
            my ($inflate) = Compress::Zlib::inflateInit();
            my $rest = substr $delta, $at + 1;
            my ($out, $status) = $inflate->inflate($rest);
            $bytes .= $out;
            last if $status != Compress::Zlib::Z_STREAM_END();
            $at = length($delta) - length $rest;
        }
        else { last }
    }
    return $bytes;
}

for my $case (['matching', @ask], ['new', text(40_000, 9), 20]) {
    my ($name, @base) = @$case;
    my $client = start_asking("/gated/$name", @base);
    my $early = $client->response(
        progress => sub { $_[0] && length(rebuilt($_[0]{body}, @base)) > 20_000 - 2_001 });
    ok(!$early->{complete}, "a $name half: not the end");
    my $half = rebuilt($early->{body}, @base);
    is_body($half, substr($page, 0, length $half), "C14: a $name half: its bytes are there while the origin waits");
    spew("$gates/$name", '');
    $server->is_delta($client->response, @base, $page, "a $name half: and then all");
    $server->{asked}++;
}

# The header goes out before there is any data.
my $client = start_asking('/header/header', @ask);
my $early = $client->response(progress => sub { $_[0] });
is(field($early, 'Content-Encoding'), 'crcsync', 'the header comes while the origin has sent no data');
is($early->{body}, '', 'and no more than it');
spew("$gates/header", '');
$server->is_delta($client->response, @ask, $page, 'the page after an early header');
$server->{asked}++;

$client = start_asking('/events', @ask);
my $seen = 0;
my $response = $client->response(
    progress => sub {
        while ($_[0] && $_[0]{body} =~ /data: event @{[$seen + 1]}\n\n/) { spew("$gates/event" . ++$seen, '') }
        return 0;
    }
);
is($seen, 5, 'C13: each event came before the next was sent');
is(field($response, 'Content-Encoding'), undef, 'C13: an event stream is no delta');
ok($response->{complete}, 'it ends');

# A CGI that waits: what its pipe has given goes out.
my $cgi = CRCSync::ServerAlone->start(modules => ['cgid'], conf => <<"END");
ScriptSock \@DIR\@/cgisock
ScriptAlias /cgi/ \@DIR\@/cgi/
END
mkdir $cgi->dir . '/cgi';
spew($cgi->dir . '/cgi/page', <<"END");
#!/usr/bin/perl
\$| = 1;
print "Content-Type: text/html\\n\\n", 'a' x 30_000;
until (-e '$gates/cgi') { select undef, undef, undef, 0.02 }
print 'b' x 30_000;
END
chmod 0755, $cgi->dir . '/cgi/page';
my @a = ('a' x 10_000, 2);
$client = CRCSync::Http->new($cgi->port);
$client->send_request(GET => '/cgi/page', fields => ['If-Block' => if_block(@a)]);
$early = $client->response(progress => sub { $_[0] && rebuilt($_[0]{body}, @a) eq 'a' x 30_000 });
ok(!$early->{complete}, 'the first part of a CGI page is there while the CGI waits');
spew("$gates/cgi", '');
$cgi->is_delta($client->response, @a, 'a' x 30_000 . 'b' x 30_000, 'a CGI page');

# Sizes around every buffer, from a file, with a length and chunked.
my $plain = CRCSync::Origin->start;
for my $size (1_024, 2_047, 65_535, 65_536) {
    my $alone = CRCSync::ServerAlone->start(conf => "CRCSyncServerBufferSize $size\nCRCSyncServerMinSize 0\n");
    my $proxy = CRCSync::ServerAlone->start(to => $plain->port, conf => "CRCSyncServerBufferSize $size\n");
    for my $bytes (map { my $k = $_; map { $k * $size + $_ } -1 .. 1 } 1, 2, 3) {
        my $body = text($bytes, 3);
        my $base = text(30_000, 3) . text(30_000, 4);
        $alone->page('page.html', $body);
        $alone->is_delta($alone->ask($base, 30, '/page.html'), $base, 30, $body, "C16: buffer $size, file of $bytes");
        $plain->put('/chunked', chunked => [unpack '(a8191)*', $body], fields => ['Content-Type' => 'text/html']);
        $proxy->is_delta($proxy->ask($base, 30, '/chunked'), $base, 30, $body, "C16: buffer $size, $bytes in chunks");
    }
    $_->httpd->stop for $alone, $proxy;
}

# 30 MB, half of them known, from a file and through the proxy; all bytes, and few of them.
my $half = random_bytes(1_000_000, 5) x 15;
my $large = $half . random_bytes(200_000, 6) . substr($half, 100) . 'end';
my $base = $half . 'x' . $half;
spew($server->dir . '/base', $base);
my $field = qx{@{[CRCSync::Work::tool()]} signature --blocks 200 @{[$server->dir]}/base};
chomp $field;
my $alone = CRCSync::ServerAlone->start;
$alone->page('large.bin', $large);
$plain->put('/large.bin', body => $large, fields => ['Content-Type' => 'application/octet-stream']);
my $proxy = CRCSync::ServerAlone->start(to => $plain->port);
for (['file', $alone], ['proxy', $proxy]) {
    my ($name, $which) = @$_;
    my $delta = $which->get('/large.bin', 'If-Block' => $field);
    $which->is_delta($delta, $base, 200, $large, "30 MB, $name");
    cmp_ok(length $delta->{body}, '<', 700_000, "30 MB, $name: few bytes");
}

done_testing;
