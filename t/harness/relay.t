# The relay as a slow line: rate and delay. Times have a lower bound only; the upper one depends on the machine.
use strict;
use warnings;

use CRCSync::Test;
use Time::HiRes qw(time);

my $origin = CRCSync::Origin->start;
my $body = random_bytes(35_000);
$origin->put('/page', body => $body);
$origin->put('/large', body => $body x 40);

sub seconds {
    my ($target, %options) = @_;
    my $relay = CRCSync::Relay->start(to => $origin->port, %options);
    my $start = time;
    my $response = http_get($relay->port, $target);
    my $end = time;
    is(length $response->{body}, length($body) * ($target eq '/large' ? 40 : 1), "all bytes of $target");
    $relay->stop;
    note(sprintf '%s with %s: %.3f s', $target, join(' ', %options), $end - $start);
    return $end - $start;
}

cmp_ok(seconds('/page', rate => 200_000), '>', 35_000 * 8 / 200_000 - 0.05, 'as slow as the line');
cmp_ok(seconds('/page', delay => 150), '>', 0.6 - 0.05, 'handshake and request cost two round trips');
cmp_ok(seconds('/large', rate => 20_000_000), '>', 1_400_000 * 8 / 20e6 - 0.05, '20 Mbit/s');

my $relay = CRCSync::Relay->start(to => $origin->port, rate => 1_000_000);
my @clients = map { CRCSync::Http->new($relay->port) } 1 .. 2;
my $start = time;
$_->send_request(GET => '/page') for @clients;
is(length $_->response->{body}, length $body, 'two connections') for @clients;
cmp_ok(time - $start, '>', 2 * 35_000 * 8 / 1e6 - 0.05, 'share one line');

done_testing;
