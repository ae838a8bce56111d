# The client module alone, in front of an origin whose answers a test makes by hand: what the origin says to a request
# with If-Block, and what to one without.
#
#   my $alone = CRCSync::ClientAlone->start(conf => "CRCSyncClientMinBase 1\n");
#   $alone->base_ok('/page', $base);                   # a full answer, fetched: it is the base now
#   $alone->delta('/page', $delta, ETag => '"2-crcsync-identity"');
#   $alone->full('/page', body => $new);
#   my $response = $alone->get('/page');
#   my @requests = $alone->requests;                   # that the origin has seen since the last call
#
# The base is cut into BLOCKS blocks, unless conf says otherwise: tests number them.
package CRCSync::ClientAlone;

use strict;
use warnings;

use Storable ();

use CRCSync::Http;
use CRCSync::Httpd;
use CRCSync::Origin;
use CRCSync::Stream;
use CRCSync::Test ();
use CRCSync::Work;

use constant BLOCKS => 16;

# Options: conf; proxy => 0 leaves out ProxyPass; socket => 1 puts the origin at a UNIX socket (@SOCKET@ in conf); and
# those of CRCSync::Httpd (modules, ports, vars, mpm, name, without).
sub start {
    my ($class, %options) = @_;
    my $answers = CRCSync::Work::new_dir('answers');
    my $socket = delete $options{socket} ? CRCSync::Work::new_dir('socket') . '/origin' : undef;
    my $origin = CRCSync::Origin->start(sub { _answer($answers, @_) }, socket => $socket);
    my $proxy = delete $options{proxy} // 1;
    my $conf = ($proxy ? qq{ProxyPass "/" "http://127.0.0.1:\@TO\@/"\n} : '')
        . "CRCSyncClient On\nCRCSyncClientBlocks @{[BLOCKS]}\n" . ($options{conf} // '');
    my $client = CRCSync::Httpd->start(
        name    => 'client',
        without => ['crccache_server'],
        %options,
        vars => {TO => $origin->port, SOCKET => $socket, %{$options{vars} // {}}},
        conf => $conf
    );
    return bless {answers => $answers, origin => $origin, client => $client, fetches => 0}, $class;
}

sub origin { return $_[0]{origin} }
sub client { return $_[0]{client} }
sub port { return $_[0]{client}->port }
sub requests { return $_[0]{origin}->requests }

# What the origin says from now on: put() options of CRCSync::Origin.
sub full {
    my ($self, $target, %answer) = @_;
    return $self->_put($target, 'full', %answer);
}

sub with_if_block {
    my ($self, $target, %answer) = @_;
    return $self->_put($target, 'delta', %answer);
}

# A well-labelled delta for requests with If-Block.
sub delta {
    my ($self, $target, $delta, @fields) = @_;
    unshift @fields, 'Content-Type' => 'text/html' unless grep { $_ eq 'Content-Type' } @fields;
    push @fields, 'Content-Encoding' => 'crcsync', Vary => 'If-Block', Capability => 'crcsync; m=1';
    return $self->with_if_block($target, body => $delta, fields => \@fields);
}

sub _put {
    my ($self, $target, $kind, %answer) = @_;
    my $file = _file($self->{answers}, $target, $kind);
    Storable::nstore(\%answer, "$file.new");
    rename "$file.new", $file or die "$file: $!\n";
    return;
}

sub _file {
    my ($dir, $target, $kind) = @_;
    return "$dir/$kind" . $target =~ s/([^A-Za-z0-9])/sprintf '_%02x', ord $1/ger;
}

sub _answer {
    my ($dir, $request, $connection) = @_;
    my @kinds = defined CRCSync::Stream::field($request, 'If-Block') ? qw(delta full) : qw(full);
    my ($file) = grep { -e } map { _file($dir, $request->{target}, $_) } @kinds;
    my %answer = $file ? %{Storable::retrieve($file)} : (status => 404, body => "no such page\n");
    CRCSync::Origin::send_answer($request, $connection, %answer);
    return;
}

sub get {
    my ($self, $target, @fields) = @_;
    return $self->request(GET => $target, fields => \@fields);
}

sub request {
    my ($self, $method, $target, %options) = @_;
    my $response = CRCSync::Http::http_request($self->port, $method, $target, %options);
    # httpd logs after the response: two requests in a row might be logged in the other order.
    $self->{client}->log(++$self->{fetches});
    return $response;
}

# A GET that must give status 200 and exactly `body`.
sub body_ok {
    my ($self, $target, $body, $name, @fields) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $response = $self->get($target, @fields);
    CRCSync::Test::is($response && $response->{status}, 200, "$name: status");
    CRCSync::Test::is_body($response && $response->{body}, $body, "$name: bytes");
    CRCSync::Test::ok($response && $response->{complete}, "$name: complete");
    return $response;
}

# Makes `body` the base of a URL; the origin goes on to answer with it.
sub base_ok {
    my ($self, $target, $body, @fields) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    $self->full($target, body => $body, fields => ['Content-Type' => 'text/html', @fields]);
    my $response = $self->body_ok($target, $body, "the base of $target");
    $self->requests;
    return $response;
}

# What the log says of the last request made through this object.
sub note {
    my ($self, $name) = @_;
    return $self->{client}->last_log($self->{fetches})->{$name};
}

1;
