# A pair: client module, recording relay, server module, each proxy an httpd of its own, in front of any origin.
#
#   my $pair = CRCSync::Pair->start(
#       to     => $origin->port,
#       server => "CRCSyncServerMinSize 0\n",     # added to the server proxy's configuration
#       client => "CRCSyncClientMinBase 1\n",     # added to the client proxy's
#       relay  => {strip => ['ETag']},            # options of the relay; 0: none, the proxies speak to each other
#       mpm    => 'worker',
#       client_faults => $faults, server_faults => $faults,          # CRCSync::Faults
#   );
#   my ($response, @exchanges) = $pair->get('/page', Accept => '*/*');
#
# body_ok and same_ok are the same as tests. get and request give the reader's response, and what crossed the line for it (CRCSync::Relay). shared() is the pair
# that lives in Apache::Test's server, both modules and the origin in one process; its line is recorded too.
package CRCSync::Pair;

use strict;
use warnings;

use CRCSync::Http;
use CRCSync::Httpd;
use CRCSync::Relay;
use CRCSync::Stream;
use CRCSync::Test ();

sub start {
    my ($class, %options) = @_;
    my $self = bless {to => $options{to}}, $class;
    my %common = map { $_ => $options{$_} } grep { defined $options{$_} } qw(mpm);
    $self->{server} = CRCSync::Httpd->start(
        name    => 'server',
        without => ['crccache_client'],
        modules => $options{server_modules},
        ports   => $options{server_ports},
        faults  => $options{server_faults},
        vars    => {TO => $options{to}},
        conf    => server_conf() . ($options{server} // ''),
        %common
    );
    my $direct = defined $options{relay} && !$options{relay};
    $self->{relay} = CRCSync::Relay->start(to => $self->{server}->port, %{$options{relay} // {}}) unless $direct;
    $self->{client} = CRCSync::Httpd->start(
        name    => 'client',
        without => ['crccache_server'],
        modules => $options{client_modules},
        ports   => $options{client_ports},
        faults  => $options{client_faults},
        vars    => {TO => ($self->{relay} // $self->{server})->port, SERVER => $self->{server}->port},
        conf    => client_conf() . ($options{client} // ''),
        %common
    );
    $self->{port} = $self->{client}->port;
    return $self;
}

# A pair of parts that a test has started itself: to (the origin's port), client, relay, server.
sub of {
    my ($class, %parts) = @_;
    return bless {%parts, port => $parts{client}->port}, $class;
}

sub shared {
    my ($class, %relay) = @_;
    my $relay = CRCSync::Relay->start(
        to   => CRCSync::Test::apache_test('server_port'),
        port => CRCSync::Test::apache_test('relay_port'),
        %relay
    );
    my ($to, $port) = map { CRCSync::Test::apache_test($_) } qw(port client_port);
    # Enough of a CRCSync::Httpd to read the client proxy's access log.
    my $client = bless {dir => CRCSync::Test::apache_test('t_logs'), name => 'Apache::Test'}, 'CRCSync::Httpd';
    return bless {relay => $relay, client => $client, port => $port, to => $to}, $class;
}

sub server_conf { return qq{ProxyPass "/" "http://127.0.0.1:\@TO\@/"\nCRCSyncServer On\n} }
sub client_conf { return qq{ProxyPass "/" "http://127.0.0.1:\@TO\@/"\nCRCSyncClient On\n} }

sub port { return $_[0]{port} }
sub server { return $_[0]{server} }
sub client { return $_[0]{client} }
sub relay { return $_[0]{relay} }

# A GET that must give status 200 and exactly `body`; returns the response and what crossed the line.
sub body_ok {
    my ($self, $target, $body, $name, @fields) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my ($response, @exchanges) = $self->get($target, @fields);
    CRCSync::Test::is($response && $response->{status}, 200, "$name: status");
    CRCSync::Test::is_body($response && $response->{body}, $body, "$name: bytes");
    CRCSync::Test::ok($response && $response->{complete}, "$name: complete");
    return ($response, @exchanges);
}

# A request through the pair must give what the origin itself gives: status, fields, body. Returns the response and what
# crossed the line. Options as for Http->request, and without => [fields that may differ].
sub same_ok {
    my ($self, $method, $target, $name, %options) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my @without = @{delete $options{without} // []};
    my $want = CRCSync::Http::http_request($self->{to}, $method, $target, %options);
    my ($response, @exchanges) = $self->request($method, $target, %options);
    if (!$response) {
        CRCSync::Test::fail("$name: no response");
        return;
    }
    CRCSync::Test::is($response->{status}, $want->{status}, "$name: status");
    my ($fields, $wanted) = map { CRCSync::Http::fields_of($_, qw(Server Content-Length), @without) } $response, $want;
    CRCSync::Test::is($fields, $wanted, "$name: fields");
    CRCSync::Test::is_body($response->{body}, $want->{body}, "$name: bytes");
    CRCSync::Test::ok($response->{complete}, "$name: complete");
    return ($response, @exchanges);
}

sub get {
    my ($self, $target, @fields) = @_;
    return $self->request(GET => $target, fields => \@fields);
}

sub request {
    my ($self, $method, $target, %options) = @_;
    my $before = $self->{client} ? $self->{client}->log_count : 0;
    my $response = CRCSync::Http::http_request($self->{port}, $method, $target, %options);
    # The reader may have all bytes before the base is stored. When the request is logged, it is.
    if ($response && $self->{client}) {
        CRCSync::Work::wait_for('the log line', sub { $self->{client}->log_count > $before });
    }
    return ($response, $self->{relay} ? $self->{relay}->exchanges : ());
}

1;
