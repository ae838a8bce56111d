# A cache between the modules (C40), one that honours Vary and one that does not: the right page, or a clean error.
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;
use HTTP::Date qw(time2str);

for my $honest (1, 0) {
    my $name = $honest ? 'a cache that honours Vary' : 'a cache that ignores Vary';
    my $origin = CRCSync::Origin->start;
    my $server = CRCSync::Httpd->start(
        name    => 'server',
        without => ['crccache_client'],
        vars    => {TO => $origin->port},
        conf    => CRCSync::Pair::server_conf(),
    );
    # The cache never sees Vary where the line before it takes it away.
    my $far = CRCSync::Relay->start(to => $server->port, $honest ? () : (strip => ['Vary']));
    my $cache = CRCSync::Httpd->start(
        name    => 'cache',
        without => [@CRCSync::Httpd::under_test],
        vars    => {TO => $far->port},
        conf    => qq{ProxyPass "/" "http://127.0.0.1:\@TO\@/"\nCacheEnable disk "/"\nCacheHeader On\n},
    );
    my $near = CRCSync::Relay->start(to => $cache->port);
    my @clients = map {
        CRCSync::Httpd->start(
            name    => "client$_",
            without => ['crccache_server'],
            vars    => {TO => $near->port},
            conf    => CRCSync::Pair::client_conf(),
        )
    } 1, 2;

    my ($right, $clean, $wrong) = (0, 0, 0);
    my %is_page;
    # Who asks for which version: the two come to have different bases, so that a delta for one is of no use to the other.
    my @asks = ([0], [1], [0, 1, 0, 1], [1, 0, 1, 0], [0], [1, 0, 1], [0, 1]);
    for my $version (1 .. @asks) {
        my $page = text(40_000, 1) . text(2_000 * $version, $version);
        $is_page{$page} = 1;
        my @fields = ('Content-Type' => 'text/html', Date => time2str(), ETag => "\"$version\"", 'Cache-Control' => 'max-age=1');
        $origin->put('/page', body => $page, fields => \@fields, conditional => 1);
        for my $client (map { $clients[$_] } @{$asks[$version - 1]}) {
            my $response = http_get($client->port, '/page');
            if ($response && $response->{status} == 502) {
                $clean++;
            }
            elsif ($response && $response->{complete} && $is_page{$response->{body}}) {
                # A cache may give an old page while it is fresh there: that is not our fault.
                $right++;
                is(field($response, 'Content-Encoding'), undef, "$name, version $version: plain");
            }
            else {
                $wrong++;
                diag(explain($response->{head}));
            }
        }
        # Freshness in the cache is counted in whole seconds.
        select undef, undef, undef, 1.1;
    }
    is($wrong, 0, "C40: $name: no wrong byte");
    is($clean, 0, "C40: $name: no error either") if $honest;
    cmp_ok($right, '>', 8, "$name: right pages ($right right, $clean clean errors)");
    $_->stop for @clients, $cache, $server, $near, $far;
}

allow_log(qr/crccache_client:error|hash|corrupt|\[proxy/);
done_testing;
