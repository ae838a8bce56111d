# C22: 1,000 graceful restarts and no growth (100 with worker and with prefork; some of each in the fast size). Both proxies
# restart while readers fetch and h2load runs; nobody gets a wrong byte, and parents keep as much memory, descriptors and
# shared memory as they had. The yardstick is the same httpd without the modules: what a restart costs there is httpd's
# own.
use strict;
use warnings;

use CRCSync::Load;
use CRCSync::Memory qw(parent_holds growth);
use CRCSync::Test;

my %restarts = (
    event   => soak(fast => 6, full => 1_000),
    worker  => soak(fast => 3, full => 100),
    prefork => soak(fast => 3, full => 100),
);

# kB that the parents climb in the last two thirds, by name, while their httpds restart in turn.
sub climb {
    my ($times, $after, %httpd) = @_;
    my %held;
    for my $turn (1 .. $times) {
        for my $name (sort keys %httpd) {
            $httpd{$name}->graceful;
            push @{$held{$name}}, parent_holds($httpd{$name})->{memory};
        }
        $after->($turn);
    }
    return map { $_ => growth(@{$held{$_}}) } keys %held;
}

for my $mpm (sort keys %restarts) {
    my $times = $restarts{$mpm};
    # Without our modules, and with nothing to do: what httpd, mod_proxy and mod_cache take for themselves.
    my $plain = CRCSync::Httpd->start(
        name    => 'plain',
        mpm     => $mpm,
        without => [qw(crccache_server crccache_client)],
        conf    => "LogLevel notice\nProxyPass / http://127.0.0.1:9/\n",
    );
    my %own = climb($times < 200 ? $times : 200, sub { }, plain => $plain);
    $plain->stop;
    my $own = $own{plain} * ($times < 200 ? 1 : $times / 200);
    figure("C22: $mpm: httpd without the modules: parent climbs in $times restarts, kB" => sprintf '%.0f', $own);

    # mod_proxy gives 502 where its upstream closes a kept connection just when it sends on it; httpd's manual names this.
    my $load = CRCSync::Load->new(mpm => $mpm, client => "SetEnv proxy-initial-not-pooled 1\n");
    is($load->sample(2), 0, "C22: $mpm: the pages are right") or diag($load->{fault});
    my %httpd = map { $_ => $load->pair->$_ } qw(server client);
    $_->graceful for values %httpd;
    my %before = map { $_ => parent_holds($httpd{$_}) } keys %httpd;
    my %counters = $load->counters($httpd{client});
    $load->start_readers(2);
    my %climbed = climb($times, sub { $load->requests(100, 4) if $_[0] % 3 == 0 }, %httpd);
    is($load->stop_readers, 0, "C22: $mpm: no reader got a wrong page while $times restarts of both proxies went on");
    my %now = $load->counters($httpd{client});
    cmp_ok($now{CRCSyncClientDelta} - $counters{CRCSyncClientDelta}, '>', 2 * $times, "C22: $mpm: deltas meanwhile");
    is($now{CRCSyncClientFaults}, 0, "C22: $mpm: no faults");
    figure("C22: $mpm: restarts of each proxy" => $times);
    figure("C22: $mpm: deltas during restarts" => $now{CRCSyncClientDelta} - $counters{CRCSyncClientDelta});
    for my $side (sort keys %httpd) {
        # One page of memory for each restart, and what a short run has of malloc's own ups and downs.
        my $allowed = 500 + $own + 4 * $times;
        cmp_ok($climbed{$side}, '<', $allowed, "C22: $mpm: the $side proxy's parent climbs by $climbed{$side} kB");
        figure("C22: $mpm: $side proxy's parent climbs in the last two thirds, kB" => $climbed{$side});
        my $after = parent_holds($httpd{$side});
        is($after->{$_}, $before{$side}{$_}, "C22: $mpm: the $side proxy's parent: $_") for qw(files shared);
    }
    is($load->sample(2), 0, "C22: $mpm: the pages are right afterwards") or diag($load->{fault});
    $load->stop;
}

allow_log(qr/\[proxy|AH00161/);
done_testing;
