# Every directive with wrong values and in wrong places: a clear error at start (C23). What the module needs, and how
# settings merge.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(if_block);
use CRCSync::Test;

sub check {
    my ($conf, %options) = @_;
    return CRCSync::Httpd->check_config(without => ['crccache_server'], conf => "$conf\n", %options);
}

sub refused {
    my ($conf, $why) = @_;
    my ($status, $output) = check($conf);
    isnt($status, 0, "refused: $conf");
    like($output, $why, "with the reason: $conf");
    return;
}

sub accepted {
    my ($conf) = @_;
    my ($status, $output) = check($conf);
    is($status, 0, "accepted: $conf") or diag($output);
    return;
}

my $huge = '9' x 30;
refused("CRCSyncClient $_", qr/CRCSyncClient must be On or Off/) for 'Maybe', '1', '""';
my %sizes = (
    CRCSyncClientMaxHeader   => ['0', '63', '8001', '8K'],
    CRCSyncClientMinBase     => ['0', '2G', '1025M'],
    CRCSyncClientMaxBase     => ['0', '1025G'],
    CRCSyncClientMaxInstance => ['0', '1025G'],
    CRCSyncClientHoldMemory  => ['2G', '1025M'],
);
for my $name (sort keys %sizes) {
    for my $value (
        '-1', '-5K', '" "', '+1', '1.5', '0x400', '64KB', '64x', 'K', 'many', $huge, "${huge}G", '17179869184G', '18446744073709551616',
        @{$sizes{$name}})
    {
        refused("$name $value", qr/$name expects a number of bytes from \S+ to \S+, not '\Q@{[$value =~ tr{"}{}dr]}\E'/);
    }
    refused($_, qr/$name takes one argument/) for $name, qq{$name ""}, "$name 64 K";
}
refused("CRCSyncClientBlocks $_", qr/CRCSyncClientBlocks expects auto or a number from 1 to 256, not '/)
    for '0', '-1', '257', $huge, 'many', '1K', '" "', '00', '+40';
refused("CRCSyncClientStore $_", qr/CRCSyncClientStore expects disk, not '/) for 'socache', 'Disk', 'crcsync';
refused($_, qr/takes one argument/) for 'CRCSyncClientBlocks', 'CRCSyncClientBlocks 1 2', 'CRCSyncClientStore';
accepted($_)
    for 'CRCSyncClientMaxHeader 64', 'CRCSyncClientMaxHeader 8000', 'CRCSyncClientMaxHeader 2k', 'CRCSyncClientMinBase 1',
    'CRCSyncClientMinBase 1G', 'CRCSyncClientMaxBase 1024G', 'CRCSyncClientMaxInstance 1m', 'CRCSyncClientHoldMemory 0',
    'CRCSyncClientHoldMemory 1G', 'CRCSyncClientBlocks auto', 'CRCSyncClientBlocks AUTO', 'CRCSyncClientBlocks 1',
    'CRCSyncClientBlocks 256', 'CRCSyncClientStore disk';

# Places.
accepted("<VirtualHost *>\nCRCSyncClient On\nCRCSyncClientStore disk\n</VirtualHost>");
accepted("<$_>\nCRCSyncClient On\nCRCSyncClientMinBase 1\nCRCSyncClientBlocks 9\n</" . s/ .*//r . '>')
    for 'Location /', 'Directory /', 'Proxy *', 'If "true"', 'LocationMatch .';
refused("<Location />\n<Limit GET>\n$_\n</Limit>\n</Location>", qr/cannot occur within <Limit>/)
    for 'CRCSyncClient On', 'CRCSyncClientMinBase 1', 'CRCSyncClientBlocks 9';
refused("<Location />\nCRCSyncClientStore disk\n</Location>", qr/CRCSyncClientStore not allowed in <Location>/);

# What the module needs. httpd -t does not come so far: it is told at start.
sub start_fails {
    my ($name, $why, %options) = @_;
    my $httpd = eval { CRCSync::Httpd->start(name => 'fails', without => ['crccache_server'], %options) };
    ok(!$httpd, "C23: $name: httpd does not start");
    like($@, $why, "$name: the reason");
    return;
}
start_fails(
    'without mod_cache_disk', qr/CRCSyncClient: there is no cache provider 'disk'.*load mod_cache and mod_cache_disk/,
    without => ['crccache_server', 'cache_disk'], conf => "CRCSyncClient On\n"
);
my $off = CRCSync::Httpd->start(name => 'off', without => ['crccache_server', 'cache_disk'], conf => "CRCSyncClient Off\n");
is(http_get($off->port, '/none')->{status}, 404, 'where it is off, nothing is needed');
CRCSync::Httpd->start(name => 'no-root', without => ['crccache_server'], ports => ['OTHER'], conf => <<'END');
Listen 127.0.0.1:@OTHER@
<VirtualHost 127.0.0.1:@OTHER@>
    CacheMaxFileSize 5000
    CRCSyncClient On
</VirtualHost>
END
expect_log(qr/no CacheRoot for the server \S+:\d+: it keeps no bases/);

# Merging: server, virtual host, section; what a section does not say is the outer one's.
my $alone = CRCSync::ClientAlone->start(
    proxy => 0,
    ports => ['OTHER'],
    conf  => <<'END',
ProxyPass / http://127.0.0.1:@TO@/
CRCSyncClientMinBase 100
<Location /off>
    CRCSyncClient Off
</Location>
<Location /off/on>
    CRCSyncClient On
    CRCSyncClientBlocks 7
</Location>
<Location /small>
    CRCSyncClientMinBase 1M
</Location>
<Location /small/few>
    CRCSyncClientBlocks 9
</Location>
<If "%{QUERY_STRING} == 'few'">
    CRCSyncClientBlocks 3
</If>
Listen 127.0.0.1:@OTHER@
<VirtualHost 127.0.0.1:@OTHER@>
    ProxyPass / http://127.0.0.1:@TO@/
    CRCSyncClientBlocks 5
    <Location /large>
        CRCSyncClientMinBase 1M
    </Location>
</VirtualHost>
END
);
my $page = text(20_000, 1);
my $other = $alone->client->port('OTHER');
my %blocks = ('/page' => 16, '/small/few' => undef, '/off' => undef, '/off/on' => 7, '/page?few' => 3);
for my $target (sort keys %blocks) {
    $alone->full($target, body => $page, fields => ['Content-Type' => 'text/html']);
    is_body(http_get($alone->port, $target)->{body}, $page, "$target, fetch $_") for 1, 2;
    my $want = $blocks{$target} && if_block($page, $blocks{$target});
    is(field(($alone->requests)[1], 'If-Block'), $want, "C23: $target: " . ($blocks{$target} // 'no') . ' blocks');
}
for my $target ('/v/page', '/large/page') {
    $alone->full($target, body => $page, fields => ['Content-Type' => 'text/html']);
    is_body(http_get($other, $target)->{body}, $page, "virtual host, $target, fetch $_") for 1, 2;
    my $want = $target =~ /large/ ? undef : if_block($page, 5);
    is(field(($alone->requests)[1], 'If-Block'), $want, "C23: virtual host, $target");
}

# A graceful restart brings other settings, and keeps the bases.
$alone->client->change_conf(sub { s/^CRCSyncClientBlocks 16$/CRCSyncClientBlocks 20/m });
$alone->client->graceful;
is_body(http_get($alone->port, '/page')->{body}, $page, 'after a graceful restart');
is(field(($alone->requests)[0], 'If-Block'), if_block($page, 20), 'the new number of blocks, the old base');

done_testing;
