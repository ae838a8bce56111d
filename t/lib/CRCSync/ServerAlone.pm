# The server module without a client module: If-Block fields are made by hand, deltas undone by hand.
#
#   my $server = CRCSync::ServerAlone->start(
#       to   => $origin->port,                 # a proxy to this port; without it the server has its own pages
#       conf => "CRCSyncServerMinSize 0\n",    # added to `CRCSyncServer On`
#   );                                         # all other options are CRCSync::Httpd's
#   my $response = $server->get('/page', Accept => '*/*');
#   my $response = $server->ask($base, 40, '/page', ETag => ...);        # with the If-Block of a base in 40 blocks
#   $server->is_delta($response, $base, 40, $page, 'a changed page');
#   $server->is_full($response, $page, 'type', 'an excluded type');      # with the reason as it stands in the log
#   $server->children_live(@children);                                   # as httpd->children gave them
package CRCSync::ServerAlone;

use strict;
use warnings;

use CRCSync::Delta;
use CRCSync::Http;
use CRCSync::Httpd;
use CRCSync::Test ();
use Test::More ();

sub start {
    my ($class, %options) = @_;
    my $conf = "CRCSyncServer On\n";
    my %vars = %{delete $options{vars} // {}};
    if (my $to = delete $options{to}) {
        $conf .= "ProxyPass / http://127.0.0.1:\@TO\@/\n";
        $vars{TO} = $to;
    }
    $conf = ($options{conf} // '') . $conf;
    my $httpd = CRCSync::Httpd->start(name => 'server', without => ['crccache_client'], %options, vars => \%vars,
        conf => $conf);
    return bless {httpd => $httpd, asked => 0}, $class;
}

sub httpd { return $_[0]{httpd} }
sub port { return $_[0]{httpd}->port }
sub dir { return $_[0]{httpd}->dir }

# A file in the DocumentRoot, a day old: httpd calls the tag of a newer one weak.
sub page {
    my ($self, $name, $body) = @_;
    my $file = $self->dir . "/htdocs/$name";
    CRCSync::Work::spew($file, $body);
    my $time = time - 86_400;
    utime $time, $time, $file;
    return;
}

sub request {
    my ($self, $method, $target, @fields) = @_;
    my $response = CRCSync::Http::http_request($self->port, $method, $target, fields => \@fields);
    # httpd logs after the response: two requests in a row might be logged in the other order.
    $self->{httpd}->log(++$self->{asked});
    return $response;
}

sub get { my $self = shift; return $self->request(GET => @_) }

sub ask {
    my ($self, $base, $count, $target, @fields) = @_;
    return $self->get($target, 'If-Block' => CRCSync::Delta::if_block($base, $count), @fields);
}

# The log line of the last request.
sub log { return $_[0]{httpd}->last_log($_[0]{asked}) }

# All of these children still run. httpd may have started more.
sub children_live {
    my ($self, @children) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my %now = map { $_ => 1 } $self->{httpd}->children;
    return Test::More::is_deeply([grep { !$now{$_} } @children], [], 'no child has died');
}

sub is_delta {
    my ($self, $response, $base, $count, $want, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return Test::More::fail("$name: an answer") unless $response;
    Test::More::is($response->{status}, 200, "$name: status");
    Test::More::is(CRCSync::Http::field($response, 'Content-Encoding'), 'crcsync', "$name: a delta") or return 0;
    Test::More::ok($response->{complete}, "$name: complete");
    my $instance = eval { CRCSync::Delta::apply_delta($response->{body}, $base, $count) };
    Test::More::diag($@) unless defined $instance;
    return CRCSync::Test::is_body($instance, $want, "$name: bytes");
}

sub is_full {
    my ($self, $response, $want, $reason, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return Test::More::fail("$name: an answer") unless $response;
    Test::More::unlike(CRCSync::Http::field($response, 'Content-Encoding') // '', qr/crcsync/i, "$name: no delta");
    Test::More::ok($response->{complete}, "$name: complete");
    CRCSync::Test::is_body($response->{body}, $want, "$name: bytes");
    return Test::More::is($self->log->{reason}, $reason, "$name: the reason");
}

1;
