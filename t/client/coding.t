# Codings of full responses: what the reader takes he gets untouched, and the base is the plain bytes; what he does not
# take is undone.
use strict;
use warnings;

use Compress::Zlib ();
use CRCSync::ClientAlone;
use CRCSync::Delta qw(if_block);
use CRCSync::Test;

my $n = CRCSync::ClientAlone::BLOCKS;
my $alone = CRCSync::ClientAlone->start(conf => "CRCSyncClientMaxBase 300K\nCRCSyncClientHoldMemory 10K\n");
my $page = text(50_000, 1);
my $raw_deflate = do {
    my ($d) = Compress::Zlib::deflateInit(-WindowBits => -15);
    my $bytes = $d->deflate($page);
    $bytes . $d->flush;
};
my %coded = (
    'gzip'        => ['gzip', Compress::Zlib::memGzip($page)],
    'x-gzip'      => ['x-gzip', Compress::Zlib::memGzip($page)],
    'GZip'        => ['GZip', Compress::Zlib::memGzip($page)],
    'two members' => ['gzip', join '', map { Compress::Zlib::memGzip($_) } unpack '(a30000)*', $page],
    'deflate'     => ['deflate', Compress::Zlib::compress($page)],
    'raw deflate' => ['deflate', $raw_deflate],
    'identity'    => ['identity', $page],
);
my @taken = ('gzip, deflate', 'gzip;q=0.5, deflate;q=0.4, x-gzip', '*', undef);
my $number = 0;

sub base_ok {
    my ($target, $want, $name) = @_;
    $alone->full($target, body => $page, fields => ['Content-Type' => 'text/html']);
    $alone->requests;
    $alone->body_ok($target, $page, "$name: the next one");
    is(field(($alone->requests)[0], 'If-Block'), $want && if_block($want, $n), "$name: its base");
    return;
}

for my $kind (sort keys %coded) {
    my ($coding, $body) = @{$coded{$kind}};
    for my $accept (@taken) {
        my $name = "$kind, for " . ($accept // 'any coding');
        my $target = '/taken' . ++$number;
        for my $chunked (0, 1) {
            my @fields = ('Content-Encoding' => $coding, ETag => '"1"', Vary => 'Accept-Encoding', 'Content-MD5' => 'x');
            $alone->full($target . $chunked, fields => \@fields, body => $body, $chunked ? (chunked => [unpack '(a700)*', $body]) : ());
            my $response = $alone->get($target . $chunked, defined $accept ? ('Accept-Encoding' => $accept) : ());
            is_body($response->{body}, $body, "C07: $name: the coded bytes");
            is(field($response, 'Content-Encoding'), $coding, "$name: the coding");
            is(field($response, 'ETag'), '"1"', "$name: the tag");
            is(field($response, 'Content-MD5'), 'x', "$name: and all else");
            base_ok($target . $chunked, $page, $name);
        }
    }
    next if $kind eq 'identity';
    # A reader who refuses what the origin sends nevertheless.
    for my $accept ('identity', 'br', "$coding;q=0, identity", '') {
        my $name = "$kind, for '$accept'";
        for my $chunked (0, 1) {
            my $target = '/undone' . ++$number;
            my @fields = ('Content-Encoding' => $coding, ETag => '"1"', Vary => 'Accept-Encoding');
            $alone->full($target, fields => \@fields, body => $body, $chunked ? (chunked => [unpack '(a700)*', $body]) : ());
            my $response = $alone->get($target, 'Accept-Encoding' => $accept);
            is_body($response->{body}, $page, "C07: $name: the plain bytes");
            ok($response->{complete}, "$name: complete");
            is(field($response, 'Content-Encoding'), undef, "$name: no coding");
            is(field($response, 'ETag'), 'W/"1"', "$name: a weak tag");
            base_ok($target, $page, $name);
            for my $no_tag ('abc', 'w/"1"', 'W/1') {
                $alone->full("$target-tag", fields => ['Content-Encoding' => $coding, ETag => $no_tag], body => $body);
                is(field($alone->get("$target-tag", 'Accept-Encoding' => $accept), 'ETag'), undef,
                    "C03: $name: $no_tag has no weak form");
                is(field($alone->get("$target-tag", 'Accept-Encoding' => $coding), 'ETag'), $no_tag, "C03: $name: $no_tag");
            }
        }
    }
}

# What is bound to its bytes passes as it is, whoever asks.
for my $field ('Content-MD5', 'Digest', 'Repr-Digest', 'Content-Digest', 'Cache-Control') {
    my $target = "/bound-$field";
    my $body = $coded{gzip}[1];
    $alone->full($target, body => $body, fields => ['Content-Encoding' => 'gzip', $field => $field =~ /Cache/ ? 'no-transform' : 'x']);
    my $response = $alone->get($target, 'Accept-Encoding' => 'identity');
    is_body($response->{body}, $body, "C12: bound by $field: the bytes");
    is(field($response, 'Content-Encoding'), 'gzip', "bound by $field: the coding");
}

# Broken codings: the reader sees what the origin sent, and no base is made of it.
my $gzip = $coded{gzip}[1];
my %broken = (
    'cut'               => substr($gzip, 0, -100),
    'without its end'   => substr($gzip, 0, -8),
    'no gzip at all'    => $page,
    'damaged'           => substr($gzip, 0, 5_000) . "\0" x 100 . substr($gzip, 5_100),
    'empty'             => '',
);
for my $how (sort keys %broken) {
    my $target = '/broken-' . $how =~ s/\W/-/gr;
    $alone->full($target, body => $broken{$how}, fields => ['Content-Encoding' => 'gzip']);
    my $response = $alone->get($target, 'Accept-Encoding' => 'gzip');
    is_body($response->{body}, $broken{$how}, "gzip that is $how: as it came");
    base_ok($target, undef, "gzip that is $how");
    next if $how eq 'empty';
    # To be undone: right up to the fault, and then visibly incomplete.
    $target .= '-undone';
    $alone->full($target, chunked => [unpack '(a700)*', $broken{$how}], fields => ['Content-Encoding' => 'gzip']);
    $response = $alone->get($target, 'Accept-Encoding' => 'identity');
    my $whole = $response && $response->{status} == 200 && $response->{complete};
    ok(!$whole, "gzip that is $how, undone: a failure");
    my $got = $response && $response->{status} == 200 ? $response->{body} : '';
    is(substr($page, 0, length $got), $got, "gzip that is $how, undone: nothing wrong before it") unless $how eq 'damaged';
}

# A small body that becomes a large one: no base beyond CRCSyncClientMaxBase, and not held for it.
my $bomb = Compress::Zlib::memGzip("\0" x 50_000_000);
$alone->full('/bomb', body => $bomb, fields => ['Content-Encoding' => 'gzip']);
is_body($alone->get('/bomb', 'Accept-Encoding' => 'gzip')->{body}, $bomb, 'a bomb passes');
is($alone->note('reason'), 'too-large', 'a bomb: the reason');
is(length $alone->get('/bomb', 'Accept-Encoding' => 'identity')->{body}, 50_000_000, 'a bomb, undone');

# Others: no base.
for my $coding ('br', 'zstd', 'gzip, gzip', 'compress', 'gzip, x') {
    my $target = '/other-' . $coding =~ s/\W/-/gr;
    $alone->full($target, body => $page, fields => ['Content-Encoding' => $coding]);
    is_body($alone->get($target, 'Accept-Encoding' => 'gzip')->{body}, $page, "C07: $coding: as it came");
    is($alone->note('reason'), 'already-coded', "$coding: the reason");
    base_ok($target, undef, $coding);
}

# What the origin is asked for: only what can be undone, unless nothing would be left for the reader.
my %asked = (
    'gzip, br'               => 'gzip',
    'br'                     => 'identity',
    'br;q=1.0, gzip;q=0.8'   => 'gzip;q=0.8',
    'deflate, gzip'          => 'deflate, gzip',
    'identity;q=0, gzip, br' => 'identity;q=0, gzip',
    'identity;q=0, br'       => 'identity;q=0, br',
    '*'                      => 'gzip',
    'gzip;q=0, *'            => 'gzip;q=0',
    'crcsync, gzip'          => 'gzip',
);
for my $accept (sort keys %asked) {
    $alone->full('/asked', body => $page, fields => ['Content-Type' => 'text/html']);
    for my $range (0, 1) {
        $alone->requests;
        $alone->get('/asked', 'Accept-Encoding' => $accept, $range ? (Range => 'bytes=0-1') : ());
        is(field(($alone->requests)[0], 'Accept-Encoding'), $asked{$accept}, "C08: Accept-Encoding: $accept");
    }
    $alone->request(HEAD => '/asked', fields => ['Accept-Encoding' => $accept]);
    is(field(($alone->requests)[0], 'Accept-Encoding'), $accept, "Accept-Encoding of HEAD: $accept");
}
$alone->get('/asked');
is(field(($alone->requests)[0], 'Accept-Encoding'), undef, 'no Accept-Encoding stays none');

# Readers who say that they take no delta, or no plain bytes (C06).
$alone->base_ok('/refused', $page);
for my $accept ('crcsync;q=0', 'gzip, crcsync;q=0.0', 'identity;q=0', 'gzip, identity;q=0', 'gzip, *;q=0') {
    $alone->body_ok('/refused', $page, "Accept-Encoding: $accept", 'Accept-Encoding' => $accept);
    is(field(($alone->requests)[0], 'If-Block'), undef, "C06: Accept-Encoding: $accept: no If-Block");
    is($alone->note('reason'), 'not-acceptable', "Accept-Encoding: $accept: the reason");
}

# What the origin flushes in the middle of its gzip the reader gets then (C14): the rest comes only when he has it.
my $seen = CRCSync::Work::new_dir('seen') . '/first';
my ($first, $second) = (text(5_000, 7), text(5_000, 8));
my $waiting = CRCSync::Origin->start(
    sub {
        my (undef, $connection) = @_;
        my ($d) = Compress::Zlib::deflateInit(-WindowBits => 31);
        $connection->send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n");
        $connection->send(join '', grep { defined && !ref } ($d->deflate($first))[0], ($d->flush(Compress::Zlib::Z_SYNC_FLUSH()))[0]);
        CRCSync::Work::wait_for('the reader', sub { -e $seen });
        $connection->send(join '', ($d->deflate($second))[0], ($d->flush)[0]);
        $connection->close;
    }
);
my $flushing = CRCSync::Httpd->start(
    name    => 'flushing',
    without => ['crccache_server'],
    vars    => {TO => $waiting->port},
    conf    => qq{ProxyPass "/" "http://127.0.0.1:\@TO\@/"\nCRCSyncClient On\n},
);
my $reader = CRCSync::Http->new($flushing->port);
$reader->send_request(GET => '/', fields => ['Accept-Encoding' => 'identity']);
my $response = $reader->response(progress => sub { spew($seen, '1') if length(($_[0] // {})->{body} // '') >= length $first });
is_body($response->{body}, $first . $second, 'C14: a gzip that is undone: what was flushed came before the rest');

allow_log(qr/AH01102|AH01110|proxy_http:error/);
done_testing;
