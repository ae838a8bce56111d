# The origin of the transparency test: what it answers to a request, for a case and a version of its page. It honours
# conditionals and ranges as an origin does, and negotiates codings where the case says so.
#
#   my ($bytes, $close) = answer($case, $version, $request);
#   my $page  = page($case, $version);              # the page without any coding
#   my $coded = code($coding, $page);
package CRCSync::Transparency::Answer;

use strict;
use warnings;

use Compress::Zlib ();
use Digest::SHA qw(sha1);
use Exporter qw(import);

use CRCSync::Stream;
use CRCSync::Test ();
use CRCSync::Transparency::Cases qw(tag_of date_of fields_for);

our @EXPORT_OK = qw(answer page code);

my %reasons = (
    200 => 'OK', 201 => 'Created', 202 => 'Accepted', 204 => 'No Content', 206 => 'Partial Content',
    301 => 'Moved Permanently', 302 => 'Found', 304 => 'Not Modified', 404 => 'Not Found', 412 => 'Precondition Failed',
    416 => 'Range Not Satisfiable', 500 => 'Internal Server Error', 503 => 'Service Unavailable',
);

# The page of a version: another one in places, longer by some bytes, or quite the same length.
sub page {
    my ($case, $version) = @_;
    my $kind = $case->{body};
    return '' if $kind eq 'empty';
    return $version if $kind eq 'byte';
    my $mark = sprintf '[case %05d version %d]', $case->{number}, $version;
    my $page = _fixed($kind);
    substr $page, 300, length $mark, $mark;
    substr $page, 2_500, 0, 'x' x (10 * $version) if $case->{number} % 2;
    substr $page, -200, length $mark, reverse $mark;
    # What a delta looks like: sections from the first byte on, and then no delta; or a whole one.
    return "B\0L\0\0\0\5helloZ" . $page if $kind eq 'sections';
    return 'L' . pack('N', length $page) . $page . 'S' . sha1($page) if $kind eq 'delta';
    return $page;
}

my %fixed;

sub _fixed {
    my ($kind) = @_;
    return $fixed{$kind} //= {
        text     => sub { CRCSync::Test::text(6_000, 1) },
        html     => sub { '<!DOCTYPE html><html><body>' . CRCSync::Test::text(20_000, 2) . "</body></html>\n" },
        binary   => sub { CRCSync::Test::random_bytes(10_000, 3) },
        large    => sub { CRCSync::Test::text(150_000, 4) },
        sections => sub { CRCSync::Test::text(5_000, 5) },
        delta    => sub { CRCSync::Test::text(4_000, 6) },
    }->{$kind}->();
}

sub code {
    my ($coding, $page) = @_;
    for my $one (split /, /, $coding) {
        # Nobody here makes brotli or zstd; nobody here reads it either.
        $page =
            $one eq 'gzip' || $one eq 'x-gzip' ? Compress::Zlib::memGzip($page)
            : $one eq 'deflate'                ? Compress::Zlib::compress($page)
            : $one eq 'none' || $one eq 'identity' ? $page
            :                                        "$one:" . reverse($page);
    }
    return $page;
}

sub answer {
    my ($case, $version, $request) = @_;
    my $status = $case->{since} eq 'changed' && $version == 1 ? 200 : $case->{status};
    my $body = page($case, $version);
    my $coding = $case->{coding} eq 'negotiated' ? _negotiate($request) : $case->{coding};
    $coding = 'none' unless length $body;
    $body = code($coding, $body);

    my $tag = tag_of($case, $version);
    # The tag of a coded form of a page is another one.
    $tag =~ s/v(\d)/v$1-$coding/ if defined $tag && $case->{coding} eq 'negotiated' && $coding ne 'none';
    my @fields = map { fields_for($case, $_, $version) } qw(date cache vary modified other);
    push @fields, ETag => $tag if defined $tag;
    push @fields, Vary => 'Accept-Encoding' if $case->{coding} eq 'negotiated';
    my @content = fields_for($case, 'type', $version);
    push @content, 'Content-Encoding' => $coding if $coding ne 'none';

    my ($outcome, $part) = (200, undef);
    if ($status == 200 && $request->{method} =~ /^(?:GET|HEAD)$/) {
        ($outcome, $part) = _preconditions($request, $tag, date_of($case, $version), length $body);
        $status = $outcome;
    }
    if ($status == 206 && $part) {
        ($body, my @range) = _partial($body, $part, \@content);
        push @content, @range;
    }
    if ($status == 412 && $outcome == 412) { ($body, @content) = ("no\n", 'Content-Type' => 'text/plain') }
    if ($status == 416 && $outcome == 416) {
        push @fields, 'Content-Range' => 'bytes */' . length $body;
        ($body, @content) = ("no\n", 'Content-Type' => 'text/plain');
    }
    push @fields, Location => '/elsewhere' if $status =~ /^(?:201|30[12378])$/;
    push @fields, Allow => 'GET, HEAD' if $status == 405;
    push @fields, 'WWW-Authenticate' => 'Basic realm="x"' if $status == 401;
    my $bodyless = $status =~ /^(?:204|304)$/;
    @content = () if $bodyless;
    push @fields, @content;
    return _message($case, $request, $status . _reason($case, $status), \@fields, $bodyless ? undef : $body);
}

sub _reason {
    my ($case, $status) = @_;
    return ' ' if $case->{reason} eq 'none';
    return ' An Own Phrase' if $case->{reason} eq 'own';
    return ' ' . ($reasons{$status} // "Status $status");
}

sub _message {
    my ($case, $request, $line, $fields, $body) = @_;
    my $close = 0;
    my @fields = @$fields;
    my ($framing, $sent) = ($case->{framing}, $body // '');
    my $old = $request->{version} eq 'HTTP/1.0';
    push @fields, Connection => 'keep-alive' if $old && $framing ne 'close';
    if (defined $body && length $body && $framing =~ /chunked|trailers/ && !$old) {
        push @fields, Trailer => 'X-Trailer' if $framing eq 'trailers';
        push @fields, 'Transfer-Encoding' => 'chunked';
        $sent = join '', map { sprintf "%x\r\n%s\r\n", length $_, $_ } unpack '(a3000)*', $body;
        $sent .= "0\r\n" . ($framing eq 'trailers' ? "X-Trailer: end\r\n" : '') . "\r\n";
    }
    elsif (defined $body && ($framing ne 'close' || !length $body)) {
        push @fields, 'Content-Length' => length $body;
    }
    elsif (defined $body) {
        push @fields, Connection => 'close';
        $close = 1;
    }
    my $head = "HTTP/1.1 $line\r\n";
    while (@fields) {
        my ($name, $value) = splice @fields, 0, 2;
        $head .= "$name: $value\r\n";
    }
    return ("$head\r\n" . ($request->{method} eq 'HEAD' ? '' : $sent), $close);
}

# The best coding that a request accepts.
sub _negotiate {
    my ($request) = @_;
    my $accept = CRCSync::Stream::field($request, 'Accept-Encoding') // '';
    my %q;
    for (split /\s*,\s*/, lc $accept) {
        my ($name, $q) = /^([^\s;]+)\s*(?:;\s*q=([\d.]+))?/ or next;
        $q{$name} = $q // 1;
    }
    for my $coding (qw(zstd br gzip deflate)) {
        return $coding if $q{$coding} // $q{'*'} // 0;
    }
    return 'none';
}

# RFC 9110, section 13.2.2: the status, and for 206 the ranges.
sub _preconditions {
    my ($request, $tag, $date, $size) = @_;
    my $field = sub { CRCSync::Stream::field($request, $_[0]) };
    my $opaque = sub { $_[0] =~ s/^W\///r };
    my $listed = sub {
        my ($list) = @_;
        return 1 if $list eq '*';
        return defined $tag && grep { $opaque->($_) eq $opaque->($tag) } $list =~ /((?:W\/)?"[^"]*"|[^\s,]+)/g;
    };
    if (defined(my $match = $field->('If-Match'))) { return 412 unless $listed->($match) }
    elsif (defined(my $unmodified = $field->('If-Unmodified-Since'))) { return 412 if ($date // '') ne $unmodified }
    if (defined(my $none = $field->('If-None-Match'))) { return 304 if $listed->($none) }
    elsif (defined(my $since = $field->('If-Modified-Since'))) { return 304 if ($date // '') eq $since }
    my $range = $field->('Range') // return 200;
    return 200 unless $request->{method} eq 'GET' && $range =~ /^bytes=/;
    my $if = $field->('If-Range');
    return 200 if defined $if && $if ne ($tag // '') && $if ne ($date // '');
    my @parts;
    for (split /,/, $range =~ s/^bytes=//r) {
        my ($first, $last) = split /-/, $_, 2;
        ($first, $last) = ($size > $last ? $size - $last : 0, '') if $first eq '';
        $last = $size - 1 if $last eq '' || $last >= $size;
        push @parts, [$first, $last] if $first <= $last;
    }
    return @parts ? (206, \@parts) : 416;
}

# The body of a 206, and the field that says so.
sub _partial {
    my ($body, $parts, $content) = @_;
    my $size = length $body;
    if (@$parts == 1) {
        my ($first, $last) = @{$parts->[0]};
        return (substr($body, $first, $last - $first + 1), 'Content-Range' => "bytes $first-$last/$size");
    }
    my $boundary = 'THIS_SEPARATES';
    my $multi = '';
    for (@$parts) {
        my ($first, $last) = @$_;
        $multi .= "\r\n--$boundary\r\nContent-Range: bytes $first-$last/$size\r\n\r\n";
        $multi .= substr $body, $first, $last - $first + 1;
    }
    my %rest = @$content;
    delete @rest{grep { lc eq 'content-type' } keys %rest};
    @$content = (%rest, 'Content-Type' => "multipart/byteranges; boundary=$boundary");
    return "$multi\r\n--$boundary--\r\n";
}

1;
