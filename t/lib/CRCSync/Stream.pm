# An incremental HTTP/1.1 parser for one direction of one connection: bytes in, messages out.
#
# It serves three users: the raw client reads responses with it, the relay finds the heads that it is to change, and
# tests turn what a relay has recorded into requests and responses. It never decodes a coding and never forgives: what
# it cannot parse it reports in {error}, with all that came before.
package CRCSync::Stream;

use strict;
use warnings;

# kind: 'request' or 'response'. Options:
#   method   => sub { method of the request that the next response answers }   (responses only; HEAD has no body)
#   head     => sub { my ($head) = @_; return the head to pass on }            (what feed returns holds its result)
#   keep     => 1 to collect messages with their bodies in messages()
sub new {
    my ($class, $kind, %options) = @_;
    return bless {kind => $kind, state => 'head', buffer => '', messages => [], %options}, $class;
}

# Whole messages so far, in order. Each has: line, method and target or status and reason, fields ([[name, value], ...]),
# head (as it stood), body (chunked coding undone), raw (the body as it stood on the wire), complete, trailers.
sub messages { return @{$_[0]{messages}} }

# The message that is being read, if any: its head is complete, its body is not.
sub partial { return $_[0]{state} eq 'head' ? undef : $_[0]{message} }

sub error { return $_[0]{error} }

# Takes bytes; returns the bytes to pass on (the same unless a head was changed).
sub feed {
    my ($self, $bytes) = @_;
    my $out = '';
    $self->{buffer} .= $bytes;
    while (length $self->{buffer}) {
        if ($self->{error}) {
            $out .= $self->{buffer};
            $self->{buffer} = '';
            last;
        }
        my $method = "_$self->{state}";
        my $passed = $self->$method();
        last unless defined $passed;
        $out .= $passed;
    }
    return $out;
}

# The stream has ended: a body without a length is complete now.
sub finish {
    my ($self) = @_;
    my $rest = $self->{buffer};
    $self->{buffer} = '';
    if ($self->{state} eq 'until_close') {
        $self->_done;
    }
    elsif ($self->{state} ne 'head' && $self->{keep}) {
        push @{$self->{messages}}, delete $self->{message};
        $self->{state} = 'head';
    }
    return $rest;
}

sub _fail {
    my ($self, $what) = @_;
    $self->{error} = $what;
    return '';
}

sub _head {
    my ($self) = @_;
    my $end = index $self->{buffer}, "\r\n\r\n";
    if ($end < 0) {
        return $self->_fail('head without end') if length $self->{buffer} > 1 << 20;
        return;
    }
    my $head = substr $self->{buffer}, 0, $end + 4, '';
    my $message = parse_head($self->{kind}, $head);
    return $self->_fail("bad head: $head") unless $message;
    @$message{qw(body raw complete)} = ('', '', 0);
    $self->{message} = $message;
    my $passed = $self->{head} ? $self->{head}->($head) : $head;

    my $length = field($message, 'Content-Length');
    my $chunked = (field($message, 'Transfer-Encoding') // '') =~ /chunked\s*$/i;
    if ($self->{kind} eq 'response') {
        # An interim response belongs to the same request as the final one.
        my $interim = $message->{status} =~ /^1/;
        my $method = $interim ? '' : $self->{method} ? $self->{method}->() // 'GET' : 'GET';
        if ($interim || $message->{status} =~ /^(?:204|304)$/ || $method eq 'HEAD') {
            $self->_done;
            return $passed;
        }
    }
    if    ($chunked)                       { $self->{state} = 'chunk_size' }
    elsif (defined $length)                { ($self->{state}, $self->{left}) = ('length', $length) }
    elsif ($self->{kind} eq 'response')    { $self->{state} = 'until_close' }
    else                                   { $self->{left} = 0 }
    $self->_done if ($self->{state} eq 'head') || ($self->{state} eq 'length' && $self->{left} == 0);
    return $passed;
}

sub _take {
    my ($self, $limit) = @_;
    my $part = substr $self->{buffer}, 0, $limit, '';
    if ($self->{keep}) {
        $self->{message}{body} .= $part;
        $self->{message}{raw}  .= $part;
    }
    return $part;
}

sub _length {
    my ($self) = @_;
    my $part = $self->_take($self->{left});
    $self->{left} -= length $part;
    $self->_done if $self->{left} == 0;
    return $part;
}

sub _until_close { return $_[0]->_take(length $_[0]{buffer}) }

sub _line {
    my ($self) = @_;
    my $end = index $self->{buffer}, "\r\n";
    return if $end < 0;
    my $line = substr $self->{buffer}, 0, $end + 2, '';
    $self->{message}{raw} .= $line if $self->{keep};
    return $line;
}

sub _chunk_size {
    my ($self) = @_;
    my $line = $self->_line // return;
    return $self->_fail("bad chunk size: $line") . $line unless $line =~ /^([0-9a-fA-F]+)/;
    $self->{left} = hex $1;
    $self->{state} = $self->{left} ? 'chunk' : 'trailer';
    return $line;
}

sub _chunk {
    my ($self) = @_;
    my $part = $self->_take($self->{left});
    $self->{left} -= length $part;
    $self->{state} = 'chunk_end' if $self->{left} == 0;
    return $part;
}

sub _chunk_end {
    my ($self) = @_;
    my $line = $self->_line // return;
    return $self->_fail('chunk too long') . $line unless $line eq "\r\n";
    $self->{state} = 'chunk_size';
    return $line;
}

sub _trailer {
    my ($self) = @_;
    my $line = $self->_line // return;
    if ($line eq "\r\n") {
        $self->_done;
    }
    elsif ($line =~ /^([^:]+):\s*(.*?)\s*\r\n/) {
        push @{$self->{message}{trailers}}, [$1, $2];
    }
    return $line;
}

sub _done {
    my ($self) = @_;
    my $message = delete $self->{message};
    $message->{complete} = 1;
    push @{$self->{messages}}, $message if $self->{keep};
    $self->{state} = 'head';
    return;
}

# --- functions

# The parts of a head, or undef.
sub parse_head {
    my ($kind, $head) = @_;
    my ($line, @rest) = split /\r\n/, $head;
    my %message = (line => $line, head => $head, fields => []);
    if ($kind eq 'request') {
        return unless ($line // '') =~ m{^(\S+) (\S+) (HTTP/1\.[01])$};
        @message{qw(method target version)} = ($1, $2, $3);
    }
    else {
        return unless ($line // '') =~ m{^(HTTP/1\.[01]) (\d{3})(?: (.*))?$};
        @message{qw(version status reason)} = ($1, $2, $3 // '');
    }
    for (@rest) {
        push @{$message{fields}}, [$1, $2] if /^([^:\s]+):[ \t]*(.*?)[ \t]*$/;
    }
    return \%message;
}

# The values of a field, in order, one for each line.
sub field_lines {
    my ($message, $name) = @_;
    return map { $_->[1] } grep { lc $_->[0] eq lc $name } @{$message->{fields}};
}

# The value of a field, all lines joined with ", "; undef if there is none.
sub field {
    my @values = field_lines(@_);
    return @values ? join(', ', @values) : undef;
}

# `head` without all lines of the field `name`.
sub without_field {
    my ($head, $name) = @_;
    $head =~ s/^\Q$name\E:[^\n]*\n//gim;
    return $head;
}

1;
