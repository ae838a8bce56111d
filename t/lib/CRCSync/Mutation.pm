# Damage to one HTTP message, from a seed: the same seed and the same message give the same damage, everywhere.
#
#   my $mutation = CRCSync::Mutation->new(4711);                      # or with a kind of @response_kinds, @request_kinds
#   my $plan = $mutation->response($bytes, made => sub { ... });      # what to send in place of these bytes
#   my $plan = $mutation->request($bytes);
#   $mutation->name;                                                  # "seed 4711: cut", for a failure's message
#
# A plan is a list of steps: [send => bytes], [wait => seconds], and last [close => 1] or [reset => 1].
package CRCSync::Mutation;

use strict;
use warnings;

use MIME::Base64 qw(encode_base64);

use CRCSync::Stream;

# Damage to bytes wherever they are, then to HTTP's own parts, then bodies that are well-formed lies ("made", by the
# caller).
my @bytes = qw(bit insert delete duplicate reorder cut reset delay);
our @response_kinds = (@bytes, qw(lines field status length chunks made));
our @request_kinds  = (@bytes, qw(lines field if_block));

sub new {
    my ($class, $seed, $kind) = @_;
    my $self = bless {seed => $seed, state => ($seed * 2_654_435_761 + 88_172_645) % 4_294_967_296 || 1, kind => $kind}, $class;
    $self->below(2) for 1 .. 4;
    return $self;
}

sub name { return "seed $_[0]{seed}: $_[0]{kind}" }
sub kind { return $_[0]{kind} }

# --- random numbers

sub below {
    my ($self, $limit) = @_;
    my $x = $self->{state};
    $x ^= $x << 13 & 0xffffffff;
    $x ^= $x >> 17;
    $x ^= $x << 5 & 0xffffffff;
    $self->{state} = $x;
    return int($x / 4_294_967_296 * $limit);
}

sub one_of { return $_[1 + $_[0]->below($#_)] }
sub bytes { my ($self, $count) = @_; return join '', map { chr $self->below(256) } 1 .. $count }

# --- messages

sub response {
    my ($self, $raw, %options) = @_;
    $self->{kind} //= $self->one_of(@response_kinds);
    # Half of the time with a length, half as it came, mostly in chunks.
    my ($head, $body) = _parts('response', $raw);
    $raw = _join(_without(_without($head, 'Transfer-Encoding'), 'Content-Length') . 'Content-Length: ' . length($body) . "\r\n", $body)
        if $self->{kind} eq 'length' || $self->{kind} eq 'made' || $self->below(2);
    return $self->_plan($raw, 'response', %options);
}

sub request {
    my ($self, $raw) = @_;
    $self->{kind} //= $self->one_of(@request_kinds);
    return $self->_plan($raw, 'request');
}

sub _plan {
    my ($self, $raw, $type, %options) = @_;
    my $kind = $self->{kind};
    return [[send => substr $raw, 0, $self->_place($raw)], [reset => 1]] if $kind eq 'reset';
    return [$self->_slowly($raw), [close => 1]] if $kind eq 'delay';
    my $method = "_$kind";
    return [[send => $self->$method($raw, $type, %options)], [close => 1]];
}

# The head without its last, empty line, and the body with its chunks undone.
sub _parts {
    my ($type, $raw) = @_;
    my $stream = CRCSync::Stream->new($type, keep => 1);
    $stream->feed($raw);
    $stream->finish;
    my ($message) = $stream->messages;
    my $head = $message ? $message->{head} : "HTTP/1.1 200 OK\r\n\r\n";
    return ($head =~ s/\r\n\z//r, $message ? $message->{body} : '');
}

sub _join { my ($head, $body) = @_; return "$head\r\n$body" }
sub _without { return CRCSync::Stream::without_field(@_) }

# --- damage to bytes: in the head or in the body, which may differ much in size

sub _place {
    my ($self, $raw) = @_;
    my $head = index($raw, "\r\n\r\n") + 4;
    return $self->below(2) || $head >= length $raw ? $self->below($head) : $head + $self->below(length($raw) - $head);
}

# (start, length) of a piece, mostly a short one.
sub _piece {
    my ($self, $raw) = @_;
    my $at = $self->_place($raw);
    my $length = 1 + $self->below($self->one_of(1, 8, 64, 1_000));
    my $left = length($raw) - $at;
    return ($at, $length < $left ? $length : $left);
}

sub _bit {
    my ($self, $raw) = @_;
    substr($raw, $self->_place($raw), 1) ^= chr(1 << $self->below(8)) for 0 .. $self->below(3);
    return $raw;
}

sub _insert {
    my ($self, $raw) = @_;
    my $what = $self->one_of("\r\n", "\r\n\r\n", "\0", "\n", ' ', ':', ';', ',', $self->bytes(1 + $self->below(40)));
    substr($raw, $self->_place($raw), 0) = $what;
    return $raw;
}

sub _delete {
    my ($self, $raw) = @_;
    my ($at, $length) = $self->_piece($raw);
    substr($raw, $at, $length) = '';
    return $raw;
}

sub _duplicate {
    my ($self, $raw) = @_;
    my ($at, $length) = $self->_piece($raw);
    substr($raw, $self->_place($raw), 0) = substr $raw, $at, $length;
    return $raw;
}

sub _reorder {
    my ($self, $raw) = @_;
    my ($at, $length) = $self->_piece($raw);
    my $piece = substr $raw, $at, $length, '';
    substr($raw, length $raw ? $self->_place($raw) : 0, 0) = $piece;
    return $raw;
}

sub _cut { my ($self, $raw) = @_; return substr $raw, 0, $self->_place($raw) }

sub _slowly {
    my ($self, $raw) = @_;
    my @steps;
    for (1 .. 1 + $self->below(4)) {
        last if length $raw < 2;
        my $part = substr $raw, 0, 1 + $self->below(length($raw) - 1), '';
        push @steps, [send => $part], [wait => 0.001 * (1 + $self->below(20))];
    }
    return (@steps, [send => $raw]);
}

# --- damage to the head

sub _split_head {
    my ($raw) = @_;
    my $end = index $raw, "\r\n\r\n";
    my ($first, @lines) = split /(?<=\r\n)/, substr $raw, 0, $end + 2;
    return ($first, \@lines, substr $raw, $end + 4);
}

# Lines of the head in another order, twice, missing, folded.
sub _lines {
    my ($self, $raw) = @_;
    my ($first, $lines, $body) = _split_head($raw);
    for (0 .. $self->below(3)) {
        my $at = $self->below(scalar @$lines);
        my $how = $self->below(5);
        if    ($how == 0) { splice @$lines, $at, 1 }
        elsif ($how == 1) { splice @$lines, $self->below(scalar @$lines), 0, $lines->[$at] }
        elsif ($how == 2) { push @$lines, splice @$lines, $at, 1 }
        elsif ($how == 3) { $lines->[$at] = ' ' . $lines->[$at] }
        else              { $lines->[$at] =~ s/\r\n/\n/ }
        last unless @$lines;
    }
    return $first . join('', @$lines) . "\r\n$body";
}

my %fields = (
    response => [qw(Content-Encoding Vary ETag Capability Content-Type Content-Length Transfer-Encoding Cache-Control Crcsync-Similar)],
    request => [qw(If-Block Host Accept-Encoding Connection Cache-Control If-None-Match)],
);

# Fields that mean something to one of the modules, with values that should not be there.
my %strange = (
    response => [
        'Content-Encoding: crcsync', 'Content-Encoding: crcsync, crcsync', 'Content-Encoding: CrcSync', 'Content-Encoding: gzip',
        'Content-Encoding: crcsync, br', 'Content-Encoding: identity', 'Content-Encoding: ,', 'Content-Encoding: x',
        'Content-Encoding: crcsync;m=1', 'Content-Encoding: ' . 'crcsync,' x 500, 'Vary: *', 'Vary: If-Block, If-Block',
        'Vary: ' . join(',', map { "X$_" } 1 .. 500), 'ETag: "x-crcsync-identity"', 'ETag: "x-crcsync-gzip"', 'ETag: "-crcsync-',
        'ETag: x-crcsync-identity', 'ETag: "' . 'x' x 4000 . '-crcsync-identity"', 'ETag: W/"1-crcsync-identity-crcsync-identity"',
        'Capability: crcsync; m=4294967296', 'Capability: ' . 'crcsync, ' x 200, 'Crcsync-Similar: ((((((((((a*)*)*)*',
        'Crcsync-Similar: ' . '(' x 4000, 'Content-Range: bytes 0-9/100', 'Content-Range: x', 'Content-MD5: x', 'Digest: sha=x',
        'Cache-Control: no-store', 'Cache-Control: private', 'Cache-Control: no-transform', 'Set-Cookie: a=b',
        'Content-Type: text/event-stream', 'Trailer: Digest', 'Connection: Content-Encoding', 'Connection: Content-Length, ETag',
        'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: identity', 'Upgrade: h2c', 'Content-Length: 0', 'If-Block: x',
        'Location: /p/1', 'Clear-Site-Data: "*"', 'X: ' . 'x' x 7000, 'X: ' . 'x' x 20_000,
    ],
    request => [
        'If-Block: x', 'If-Block:', 'Range: bytes=0-9', 'Request-Range: bytes=0-9', 'If-Range: "x-crcsync-identity"',
        'If-None-Match: "1-crcsync-identity"', 'If-None-Match: *', 'If-Match: "1-crcsync-gzip-crcsync-gzip"', 'Cache-Control: no-store',
        'Accept-Encoding: crcsync;q=0', 'Accept-Encoding: identity;q=0', 'Accept-Encoding: br', 'Expect: 100-continue',
        'Content-Length: 10', 'Content-Length: -1', 'Transfer-Encoding: chunked', 'Authorization: Basic eDp4', 'Via: ' . 'x, ' x 1000,
        'X: ' . 'x' x 7000, 'X: ' . 'x' x 20_000, 'Connection: If-Block', 'TE: trailers', 'Upgrade: h2c',
    ],
);

# A field of the head that the modules look at is dropped, doubled or garbled; or there is one more.
sub _field {
    my ($self, $raw, $type) = @_;
    my ($first, $lines, $body) = _split_head($raw);
    my @known = grep { my $n = $_; grep { /^\Q$n\E:/i } @$lines } @{$fields{$type}};
    if (!@known || $self->below(2)) {
        my $line = $self->one_of(@{$strange{$type}}) . "\r\n";
        my ($name) = $line =~ /^([^:]+)/;
        # In place of what was there, before it, or after it.
        my $how = $self->below(3);
        @$lines = grep { !/^\Q$name\E:/i } @$lines if $how == 0;
        if   ($how == 1) { unshift @$lines, $line }
        else             { push @$lines, $line }
        return $first . join('', @$lines) . "\r\n$body";
    }
    my $name = $self->one_of(@known);
    my $how = $self->below(6);
    for my $line (@$lines) {
        my ($old, $value) = $line =~ /^(\Q$name\E): *(.*?)\r\n/i or next;
        my $at = $self->below(1 + length $value);
        $line =
              $how == 0 ? ''
            : $how == 1 ? $line x 2
            : $how == 2 ? "$old: " . substr($value, 0, $at) . "\r\n"
            : $how == 3 ? "$old: " . substr($value, 0, $at) . $self->one_of(',', '"', '-', ';', '=', ' ', "\t", "\xff") . substr($value, $at) . "\r\n"
            : $how == 4 ? "$old: " . reverse($value) . "\r\n"
            :             substr($old, 0, -1) . "x: $value\r\n";
    }
    return $first . join('', @$lines) . "\r\n$body";
}

sub _status {
    my ($self, $raw) = @_;
    my $line = $self->one_of(
        (map { "HTTP/1.1 $_ Changed" } 100, 101, 103, 201, 203, 204, 205, 206, 226, 299, 300, 301, 304, 400, 401, 403, 404, 407, 408,
            412, 413, 416, 421, 431, 451, 500, 501, 502, 503, 504, 599, 600, 999),
        'HTTP/1.1 20', 'HTTP/1.1 2000 OK', 'HTTP/1.1 -1 OK', 'HTTP/1.1 xyz OK', 'HTTP/9.9 200 OK', 'HTTP/1.0 200 OK', 'HTTP/0.9 200 OK',
        'HTTP/1.1', '', '200 OK', 'HTTP/1.1 200', "HTTP/1.1\t200\tOK", 'HTTP/1.1  200  OK', 'ICY 200 OK', 'HTTP/1.1 200 ' . 'x' x 9000,
        'GET / HTTP/1.1',
    );
    return $raw =~ s/^[^\r]*/$line/r;
}

# --- damage to what says where a body ends

sub _length {
    my ($self, $raw) = @_;
    my ($first, $lines, $body) = _split_head($raw);
    my $n = length $body;
    my $length = $self->one_of(
        $n - 1, int($n / 2), 0, $n + 1, $n + 1_000, 2_147_483_647, 4_294_967_296, '9223372036854775807', '9223372036854775808',
        '18446744073709551616', '9' x 400, -1, -$n, "+$n", "0x10", "$n.0", 'x', '', "$n, $n", "$n,", "$n, " . ($n + 1), " $n x",
        "$n\r\nContent-Length: $n", "$n\r\nContent-Length: " . ($n + 1), "$n\r\nContent-Length: 0", "$n\r\nTransfer-Encoding: chunked",
        "$n\r\nTransfer-Encoding: x", "00000000000000000000000$n",
    );
    s/^Content-Length:.*/Content-Length: $length\r/i for @$lines;
    return $first . join('', @$lines) . "\r\n$body";
}

# The body in chunks, one of them wrong.
sub _chunks {
    my ($self, $raw, $type) = @_;
    my ($head, $body) = _parts($type, $raw);
    $head = _without(_without($head, 'Content-Length'), 'Transfer-Encoding') . "Transfer-Encoding: chunked\r\n";
    my @parts;
    while (length $body) {
        push @parts, substr $body, 0, 1 + $self->below(@parts > 6 ? length $body : 100), '';
    }
    my @chunks = ((map { [sprintf('%x', length $_), "\r\n", $_, "\r\n"] } @parts), ['0', "\r\n", '', "\r\n"]);
    my $bad = $chunks[$self->below(scalar @chunks)];
    my $size = hex $bad->[0];
    my $how = $self->below(5);
    if ($how < 2) {
        $bad->[0] = $self->one_of(
            sprintf('%x', $size + 1), sprintf('%x', $size + 1_000), $size ? sprintf('%x', $size - 1) : '1', '0', '', '-1', '-0', 'g', 'x',
            '0x5', 'ffffffff', '7fffffffffffffff', 'ffffffffffffffff', '10000000000000000', 'f' x 200, " $bad->[0]", "$bad->[0] ",
            "$bad->[0];x=" . 'y' x 9_000, "$bad->[0];\0", '0' x 100 . $bad->[0],
        );
    }
    elsif ($how == 2) { $bad->[1] = $self->one_of("\n", "\r", '', "\r\n\r\n", "\r\r\n") }
    elsif ($how == 3) { $bad->[3] = $self->one_of("\n", '', 'x', "\r\n\r\n", "xx\r\n") }
    else {
        $chunks[-1] = $self->one_of([''], ['0'], ["0\r\n"], ["0\r\nX: y\r\n\r\n"], ["0\r\nContent-Encoding: gzip\r\nETag: \"x\"\r\n\r\n"],
            ["0\r\n" . 'X: ' . 'y' x 9_000 . "\r\n\r\n"], ["0\r\n" . "X: y\r\n" x 1_000 . "\r\n"], ["0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"]);
    }
    return _join($head, join '', map { @$_ } @chunks);
}

# --- bodies that a test makes

sub _made {
    my ($self, $raw, $type, %options) = @_;
    my ($head, $body) = _parts($type, $raw);
    my $made = $options{made} ? $options{made}->($self, $body) : $self->bytes(1 + $self->below(200));
    $head =~ s/^Content-Length:.*\n//im;
    return _join($head . 'Content-Length: ' . length($made) . "\r\n", $made);
}

# --- If-Block (C34)

sub _if_block {
    my ($self, $raw) = @_;
    my ($fs, $h) = $raw =~ /^If-Block:.*?fs=(\d+); h=(\S+)/im ? ($1, $2) : (1_000, 'AAAAAAAAAAA=');
    my $n = int(length($h) * 3 / 4 / 8);
    my $hashes = sub { encode_base64($self->bytes(8 * $_[0]), '') };
    my $size = $self->one_of(0, 1, 10, $n - 1, $n, $fs - 1, $fs + 1, -1, "+$fs", 2**31 - 1, 2**31, 2**31 + 1, 2**32, '9223372036854775807',
        '9223372036854775808', '18446744073709551615', '18446744073709551616', '', ' ', 'x', "0x$fs", "$fs.0", "$fs;fs=$fs", '9' x 1_000);
    my $hash = $self->one_of('', '=', '====', 'A', 'AAAA', '*' x 40, '-_' x 20, substr($h, 0, -1), substr($h, 1), $h . 'AAAA', "$h=", "$h; h=$h",
        $h =~ s/(.{9})/$1 /r, $hashes->(1), $hashes->($n), $hashes->(256), $hashes->(257), $hashes->(700), 'AAAAAAAAAAA=' x 40, 'A' x 20_000);
    my $version = $self->one_of('v=1', 'v=0', 'v=2', 'v=', 'v=x', 'v=1; v=1', 'v=-1', 'v=18446744073709551617', 'x=1', '', ';;;', '=', 'v');
    my $how = $self->below(6);
    my $value =
          $how == 0 ? "v=1; fs=$size; h=$h"
        : $how == 1 ? "v=1; fs=$fs; h=$hash"
        : $how == 2 ? "$version; fs=$fs; h=$h"
        : $how == 3 ? "$version; fs=$size; h=$hash"
        : $how == 4 ? "v=1; fs=$fs; h=$h\r\nIf-Block: " . $self->one_of("v=1; fs=$fs; h=$h", '', 'x', "v=1; fs=$size; h=$hash")
        :             $self->one_of('', ' ', ';', ';' x 3_000, '=' x 3_000, "fs=$fs", "h=$h", "v=1; fs=$fs", "v=1; h=$h", "fs=$fs, h=$h",
                          'v=1; fs=' . $fs . '; h=' . $h . ';' . 'x=y;' x 1_000, join('', map { chr } 128 .. 255));
    return $raw if $raw =~ s/^If-Block:[^\r]*/If-Block: $value/im;
    return $raw =~ s/\r\n\r\n/\r\nIf-Block: $value\r\n\r\n/r;
}

1;
