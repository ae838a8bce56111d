# A raw HTTP/1.1 client: every field of a request is the test's, every byte of the response is seen.
#
#   my $response = http_get($port, '/page', 'If-None-Match' => '"x"');
#   my $client = CRCSync::Http->new($port);                    # one connection, kept alive
#   my $response = $client->request(GET => '/page', fields => [Cookie => 'a=b'], body => ..., chunks => [...]);
#
# A response is a message of CRCSync::Stream: status, reason, fields, body, raw, complete. field($response, 'Vary')
# gives a field's value. Host, and Content-Length for a body, are added where the test gives none. A connection that
# breaks gives what came, with complete => 0, or undef if no head came.
package CRCSync::Http;

use strict;
use warnings;

use CRCSync::Stream;
use Exporter qw(import);
use IO::Socket::INET;

our @EXPORT_OK = qw(http_get http_request field fields_of);

sub field { return CRCSync::Stream::field(@_) }

# Seconds after which a server that says nothing is taken for dead.
our $timeout = 120;

sub new {
    my ($class, $port, %options) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 10)
        or die "no connection to port $port: $@\n";
    return bless {port => $port, socket => $socket, methods => [], %options}, $class;
}

sub socket { return $_[0]{socket} }

sub close {
    my ($self) = @_;
    CORE::close(delete $self->{socket}) if $self->{socket};
    return;
}

sub request {
    my ($self, $method, $target, %options) = @_;
    $self->send_request($method, $target, %options);
    return $self->response;
}

# Only sends; several before the first response() make a pipeline.
sub send_request {
    my ($self, $method, $target, %options) = @_;
    my @fields = @{$options{fields} // []};
    my %has = map { lc $fields[2 * $_] => 1 } 0 .. @fields / 2 - 1;
    unshift @fields, Host => "127.0.0.1:$self->{port}" unless $has{host};
    my $body = $options{body};
    if ($options{chunks}) {
        push @fields, 'Transfer-Encoding' => 'chunked';
        $body = join '', map { sprintf "%x\r\n%s\r\n", length $_, $_ } @{$options{chunks}};
        $body .= "0\r\n\r\n";
    }
    elsif (defined $body && !$has{'content-length'}) {
        push @fields, 'Content-Length' => length $body;
    }
    my $head = "$method $target HTTP/1." . ($options{minor} // 1) . "\r\n";
    while (@fields) {
        my ($name, $value) = splice @fields, 0, 2;
        $head .= "$name: $value\r\n";
    }
    push @{$self->{methods}}, $method;
    $self->send_raw("$head\r\n" . ($body // ''));
    return;
}

sub send_raw {
    my ($self, $bytes) = @_;
    local $SIG{PIPE} = 'IGNORE';
    while (length $bytes) {
        my $count = syswrite $self->{socket}, $bytes;
        last unless $count;
        substr $bytes, 0, $count, '';
    }
    return;
}

# The next final response. progress => sub { my ($message) = @_; ... } is called after each read with what has come
# so far (undef before the head is whole); where it returns true, reading stops and the partial message is returned.
sub response {
    my ($self, %options) = @_;
    my $stream = $self->{stream} //= CRCSync::Stream->new(
        'response',
        keep   => 1,
        method => sub { shift @{$self->{methods}} },
    );
    while (1) {
        while (my $message = shift @{$stream->{messages}}) {
            return $message unless $message->{status} =~ /^1/;
        }
        return $stream->partial if $options{progress} && $options{progress}->($stream->partial);
        my $ready = '';
        vec($ready, fileno $self->{socket}, 1) = 1;
        select($ready, undef, undef, $timeout) or die "no answer in $timeout s on port $self->{port}\n";
        my $bytes;
        my $count = sysread $self->{socket}, $bytes, 65_536;
        if (!$count) {
            $stream->finish;
            my $message = shift @{$stream->{messages}};
            return $message;
        }
        $stream->feed($bytes);
        die "not HTTP: $stream->{error}\n" if $stream->{error};
    }
}

# --- functions for a single request on its own connection

sub http_get {
    my ($port, $target, @fields) = @_;
    return http_request($port, GET => $target, fields => \@fields);
}

sub http_request {
    my ($port, $method, $target, %options) = @_;
    my @fields = (@{$options{fields} // []}, Connection => 'close');
    my $client = CRCSync::Http->new($port);
    my $response = $client->request($method, $target, %options, fields => \@fields);
    # Not left to Perl: the object refers to itself. A server that waits for the end of a connection has a process less.
    $client->close;
    return $response;
}

# All fields but those that differ from one answer to the next anyway, sorted, one a line: to compare two responses. httpd
# itself takes the blanks out of Vary.
sub fields_of {
    my ($message, @without) = @_;
    my %without = map { lc $_ => 1 } qw(Date Connection Keep-Alive Transfer-Encoding Via), @without;
    my @fields = grep { !$without{$_->[0]} } map { [lc $_->[0], $_->[1]] } @{$message->{fields}};
    return join "\n", sort map { "$_->[0]: " . ($_->[0] eq 'vary' ? $_->[1] =~ s/,\s+/,/gr : $_->[1]) } @fields;
}

1;
