# Compares what two ways gave to the same request, and explains what may differ. docs/transparency.md says the same in
# words; a rule that no case needs any more fails the test.
#
#   my $differences = CRCSync::Transparency::Differences->new('modules');            # or 'httpd', 'modules'
#   my @text = $differences->response($x);         # what no rule explains
#   my @text = $differences->requests($x);         # the same for what the origin saw
#   my %used = $differences->used;                 # rule => number of fetches that needed it
#
# $x: {step, round, page, want, got, result}; want and got are entries of CRCSync::Transparency::Run, result the client
# module's note.
package CRCSync::Transparency::Differences;

use strict;
use warnings;

use CRCSync::Stream;
use CRCSync::Transparency::Answer qw(code);

# Hop-by-hop: RFC 9110, section 7.6.1, and the framing of a body.
my %hop = map { $_ => 1 } qw(connection keep-alive te trailer transfer-encoding upgrade proxy-connection);

# A rule says for one difference, {what, field, want, got}, whether it explains it. want and got are texts; a field's
# lines are joined by "\n", and one that is not there is undef.
my @response_rules = (
    # --- what our modules change
    [modules => 'a coding is undone' => sub {
        my ($d, $x) = @_;
        return 0 unless length $x->{undone};
        return 1 if $d->{what} eq 'body' && code($x->{undone}, $d->{got}) eq $d->{want};
        return 0 unless $d->{what} eq 'field';
        return 1 if $d->{field} eq 'content-encoding' && !defined $d->{got};
        my $length = length $x->{got}{response}{body};
        return 1 if $d->{field} eq 'content-length' && ($d->{got} // $length) == $length;
        return 0 if $d->{field} ne 'etag' || !defined $d->{want};
        # What is no tag has no weak form.
        return !defined $d->{got} if $d->{want} !~ m{^(?:W/)?"[^"]*"\z};
        return defined $d->{got} && $d->{got} eq "W/$d->{want}";
    }],
    [modules => 'Accept-Ranges of a delta' => sub {
        my ($d, $x) = @_;
        return $d->{what} eq 'field' && $d->{field} eq 'accept-ranges' && !defined $d->{got} && $x->{result} eq 'delta';
    }],
    [modules => 'If-Block in the Vary of the origin' => sub {
        my ($d, $x) = @_;
        return $d->{what} eq 'field' && $d->{field} eq 'vary' && $x->{step}{case}{vary} eq 'if-block'
            && ($d->{got} // '') eq join(',', grep { $_ ne 'If-Block' } split /,/, _one_vary($d->{want}));
    }],
    [modules => 'Content-Encoding: identity of a delta' => sub {
        my ($d, $x) = @_;
        return $d->{what} eq 'field' && $d->{field} eq 'content-encoding' && ($d->{want} // '') eq 'identity'
            && !defined $d->{got} && $x->{result} eq 'delta';
    }],
    [modules => 'Vary is spelled with a capital' => sub {
        my ($d) = @_;
        return $d->{what} eq 'spelling' && $d->{want} eq 'vary' && $d->{got} eq 'Vary';
    }],
    # --- what any proxy may do
    [proxies => 'framing' => sub {
        my ($d, $x) = @_;
        # A length where there was chunked coding, or the end of the connection.
        return 1 if $d->{what} eq 'field' && $d->{field} eq 'content-length' && !defined $d->{want}
            && $d->{got} == length $x->{got}{response}{body};
    }],
    [proxies => 'the clock' => sub {
        my ($d) = @_;
        return $d->{what} eq 'field' && $d->{field} eq 'date' && defined $d->{want} && ($d->{got} // '') =~ /GMT$/
            && $d->{want} !~ /2019/;
    }],
    # --- what httpd does, with our modules or without
    [httpd => 'Date and Server where the origin sent none' => sub {
        my ($d) = @_;
        return $d->{what} eq 'field' && $d->{field} =~ /^(?:date|server)$/ && !defined $d->{want};
    }],
    [httpd => 'Vary is one line, without blanks and repetitions' => sub {
        my ($d) = @_;
        return $d->{what} eq 'field' && $d->{field} eq 'vary' && defined $d->{want} && defined $d->{got}
            && $d->{got} eq _one_vary($d->{want});
    }],
    [httpd => 'no length for HTTP/1.0 after a chunked body' => sub {
        my ($d, $x) = @_;
        return $d->{what} eq 'field' && $d->{field} eq 'content-length' && !defined $d->{got}
            && defined $x->{step}{minor};
    }],
    [httpd => 'an empty HEAD has no length' => sub {
        my ($d, $x) = @_;
        return $d->{what} eq 'field' && $d->{field} eq 'content-length' && $x->{step}{method} eq 'HEAD'
            && ($d->{want} // '') eq '0' && !defined $d->{got};
    }],
    [httpd => 'httpd cuts a range that the origin has not cut' => sub {
        my ($d, $x) = @_;
        my ($want, $got) = map { $x->{$_}{response} } qw(want got);
        return 0 unless $want->{status} == 200 && $got->{status} == 206 && $x->{step}{method} ne 'GET';
        my ($first, $last) = (CRCSync::Stream::field($got, 'Content-Range') // '') =~ /^bytes (\d+)-(\d+)/ or return 0;
        return 0 unless $got->{body} eq substr $want->{body}, $first, $last - $first + 1;
        return $d->{what} =~ /^(?:status|reason|body)$/ || $d->{field} =~ /^content-(?:range|length)$/;
    }],
);

my @request_rules = (
    [modules => 'Accept-Encoding is narrowed' => sub {
        my ($d) = @_;
        return $d->{what} eq 'field' && $d->{field} eq 'accept-encoding' && _is_narrowed($d->{want}, $d->{got});
    }],
    [modules => 'asked again, past all caches' => sub {
        my ($d, $x) = @_;
        return 0 unless $x->{result} eq 'refetched' && $x->{got}{response}{status} =~ /^(?:400|413|431)$/;
        return 1 if $d->{what} eq 'count' && $d->{want} == 1 && $d->{got} == 2;
        return $d->{what} eq 'field' && $d->{field} eq 'cache-control'
            && $d->{got} eq join(', ', grep { defined } $d->{want}, 'no-cache');
    }],
    [httpd => 'Host and X-Forwarded-*' => sub {
        my ($d) = @_;
        return $d->{what} eq 'field' && $d->{field} =~ /^(?:host|x-forwarded-(?:host|server|for))$/
            && $d->{got} =~ /127\.0\.0\.1/;
    }],
    [httpd => 'HTTP/1.1 upstream' => sub {
        my ($d) = @_;
        return $d->{what} eq 'line' && $d->{got} eq ($d->{want} =~ s{HTTP/1\.0$}{HTTP/1.1}r);
    }],
    [httpd => 'what Connection names is taken off' => sub {
        my ($d, $x) = @_;
        return $d->{what} eq 'field' && $d->{field} eq 'x-hop' && !defined $d->{got};
    }],
    [httpd => 'Max-Forwards is counted' => sub {
        my ($d) = @_;
        return $d->{what} eq 'field' && $d->{field} eq 'max-forwards' && $d->{want} == $d->{got} + 2;
    }],
    [httpd => 'repeated fields are joined' => sub {
        my ($d) = @_;
        return $d->{what} eq 'field' && defined $d->{want} && $d->{want} =~ /\n/
            && ($d->{got} // '') eq ($d->{want} =~ s/\n/, /gr);
    }],
    [httpd => 'framing of the body' => sub {
        my ($d, $x) = @_;
        return $d->{what} eq 'field' && $d->{field} eq 'content-length' && !defined $d->{want}
            && $d->{got} == length $x->{got}{requests}[-1]{body};
    }],
);

sub new {
    my ($class, @of) = @_;
    my %of = map { $_ => 1 } @of;
    my $rules = sub { [grep { $of{$_->[0]} } @_] };
    return bless {response => $rules->(@response_rules), request => $rules->(@request_rules), used => {}}, $class;
}

# Names of the rules, each with the number of fetches that needed it.
sub used {
    my ($self) = @_;
    return map { ("$_->[0]: $_->[1]" => $self->{used}{$_->[1]} // 0) } @{$self->{response}}, @{$self->{request}};
}

sub compared { return $_[0]{compared} // 0 }

sub response {
    my ($self, $x) = @_;
    my ($want, $got) = map { $x->{$_}{response} } qw(want got);
    return 'no response' unless $want && $got;
    return 'cut off' unless $want->{complete} && $got->{complete};
    my $coding = CRCSync::Stream::field($want, 'Content-Encoding') // '';
    # The coding, if that is so.
    my $undone = $coding =~ /^(?:x-)?gzip$|^deflate$/ && $x->{step}{method} eq 'GET' && $want->{status} == 200
        && !defined CRCSync::Stream::field($got, 'Content-Encoding');
    $x->{undone} = $undone ? $coding : '';
    my @differences = map { {what => $_, want => $want->{$_}, got => $got->{$_}} }
        grep { $want->{$_} ne $got->{$_} } qw(status reason body);
    push @differences, _fields($want, $got);
    return $self->_explain($x, 'response', @differences);
}

sub requests {
    my ($self, $x) = @_;
    my ($want, $got) = map { $x->{$_}{requests} } qw(want got);
    my @differences;
    push @differences, {what => 'count', want => scalar @$want, got => scalar @$got} if @$want != @$got;
    return 'no request at the origin' unless @$want && @$got;
    for my $request (@$got) {
        my $first = $want->[0];
        push @differences, map { {what => $_, want => $first->{$_}, got => $request->{$_}} }
            grep { $first->{$_} ne $request->{$_} } qw(line body);
        push @differences, _fields($first, $request);
    }
    return $self->_explain($x, 'request', @differences);
}

sub _explain {
    my ($self, $x, $kind, @differences) = @_;
    $self->{compared}++;
    my (@open, %used);
    for my $d (@differences) {
        my ($rule) = grep { $_->[2]->($d, $x) } @{$self->{$kind}};
        if   ($rule) { $used{$rule->[1]}++ }
        else         { push @open, _text($d) }
    }
    $self->{used}{$_}++ for keys %used;
    return @open;
}

sub _fields {
    my ($want, $got) = @_;
    my ($wanted, $gotten) = map { _by_name($_) } $want, $got;
    my @differences;
    for my $name (sort keys %{{%$wanted, %$gotten}}) {
        next if $hop{$name};
        my ($w, $g) = ($wanted->{$name}, $gotten->{$name});
        my ($values, $others) = map { $_ ? join "\n", map { $_->[1] } @$_ : undef } $w, $g;
        if (($values // "\0") ne ($others // "\0")) {
            push @differences, {what => 'field', field => $name, want => $values, got => $others};
        }
        elsif ("@{[map { $_->[0] } @$w]}" ne "@{[map { $_->[0] } @$g]}") {
            my ($here, $there) = map { join ' ', map { $_->[0] } @$_ } $w, $g;
            push @differences, {what => 'spelling', want => $here, got => $there};
        }
    }
    return @differences;
}

# Lines of each field, in their order. The ports differ from way to way.
sub _by_name {
    my ($message) = @_;
    my %fields;
    push @{$fields{lc $_->[0]}}, [$_->[0], $_->[1] =~ s/(127\.0\.0\.1):\d+/$1:PORT/gr] for @{$message->{fields}};
    return \%fields;
}

sub _text {
    my ($d) = @_;
    my ($want, $got) = map { _value($d->{$_}) } qw(want got);
    return join(' ', $d->{what}, $d->{field} // ()) . ": $want, here $got";
}

sub _value {
    my ($value) = @_;
    return 'nothing' unless defined $value;
    return length($value) . ' bytes' if length $value > 200;
    return "'$value'" =~ s/([^\x20-\x7e])/sprintf '\\x%02x', ord $1/ger;
}

# As httpd writes it.
sub _one_vary {
    my ($lines) = @_;
    my %seen;
    return join ',', grep { !$seen{lc $_}++ } split /\s*,\s*|\n/, $lines;
}

# Whether a request that said `want` may say `got`: only codings that the modules can undo, none that was not accepted.
sub _is_narrowed {
    my ($want, $got) = @_;
    return 0 unless defined $got;
    return 1 if $got eq 'identity';
    my %q = map { /^([^\s;]+)\s*(?:;\s*q=([\d.]+))?/ ? ($1 => $2 // 1) : () } split /\s*,\s*/, lc($want // '');
    for (split /\s*,\s*/, lc $got) {
        my ($name, $q) = /^([^\s;]+)\s*(?:;\s*q=([\d.]+))?/ or return 0;
        return 0 unless $name =~ /^(?:gzip|x-gzip|deflate|identity|\*)$/ && ($q // 1) == ($q{$name} // $q{'*'} // -1);
        return 0 if $name eq '*' && ($q // 1) != 0;
    }
    return 1;
}

1;
