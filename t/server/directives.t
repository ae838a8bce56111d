# Every directive with wrong values and in wrong places: a clear error at start (C23). And how settings merge.
use strict;
use warnings;

use CRCSync::ServerAlone;
use CRCSync::Test;

sub refused {
    my ($conf, $why, $name) = @_;
    my ($status, $output) = CRCSync::Httpd->check_config(without => ['crccache_client'], conf => "$conf\n");
    isnt($status, 0, "C23: refused: $name");
    like($output, $why, "C23: with the reason: $name");
    return;
}

sub accepted {
    my ($conf) = @_;
    my ($status, $output) = CRCSync::Httpd->check_config(without => ['crccache_client'], conf => "$conf\n");
    is($status, 0, "C23: accepted: $conf") or diag($output);
    return;
}

my $huge = '9' x 30;
refused("CRCSyncServer $_", qr/CRCSyncServer must be On or Off/, "CRCSyncServer $_") for 'Maybe', '1', '""';
refused('CRCSyncServer', qr/CRCSyncServer/, 'CRCSyncServer');
my %numbers = (
    CRCSyncServerBufferSize       => ['1023', '16385K', '17M', '1G'],
    CRCSyncServerCompressionLevel => ['10', '9K', '0M'],
    CRCSyncServerMinSize          => ['1073741825', '2G'],
    CRCSyncServerMaxBlockSize     => ['0', '63', '2G'],
);
for my $name (sort keys %numbers) {
    my @wrong = ('-1', '-5K', '" "', '+1', '1.5', '0x400', '64KB', '64 K', 'K', 'many', $huge, "${huge}G",
        '17179869184G', @{$numbers{$name}});
    for my $value (@wrong) {
        my $why = $value eq '64 K' ? qr/$name takes one argument/ : qr/$name expects a number.*not '\Q@{[$value =~ tr{"}{}dr]}\E'/;
        refused("$name $value", $why, "$name $value");
    }
    refused($_, qr/$name takes one argument/, $_) for $name, qq{$name ""};
}
accepted($_)
    for 'CRCSyncServerBufferSize 1K', 'CRCSyncServerBufferSize 16m', 'CRCSyncServerBufferSize 65536',
    'CRCSyncServerCompressionLevel 0', 'CRCSyncServerCompressionLevel 9', 'CRCSyncServerMinSize 0',
    'CRCSyncServerMinSize 1g', 'CRCSyncServerMaxBlockSize 64', 'CRCSyncServerMaxBlockSize 1G';

for my $name ('CRCSyncServerTypes', 'CRCSyncServerTypesExclude') {
    for my $value ('html', 'text/', '/html', '*/html', 'text/h*', 'text/html;charset=utf-8', 'text//html',
        'text/html text', '*', '"text/html text/css"', 'te\\xt/html')
    {
        refused("$name $value", qr/$name expects content types such as text\/html/, "$name $value");
    }
    refused($_, qr/$name requires at least one argument/, $_) for $name, qq{$name ""};
    accepted("$name $_") for 'all', '*/*', 'image/*', 'text/html APPLICATION/json application/vnd.api+json';
}

my $similar = 'CRCSyncServerSimilar';
refused("$similar text/html", qr/$similar takes two arguments/, 'a rule without an expression');
refused("$similar text/html ^/a b", qr/$similar takes two arguments/, 'a rule of three arguments');
refused(qq{$similar " , " "^/"}, qr/$similar expects at least one content type/, 'a rule for no type');
refused($_, qr/$similar takes two arguments/, $_) for qq{$similar "" "^/"}, qq{$similar text/html ""};
refused(qq{$similar "html" "^/"}, qr/$similar expects content types/, 'a rule for what is no type');
refused(qq{$similar text/html "$_"}, qr/$similar: '\Q$_\E' is no valid regular expression/, "the expression $_")
    for '(', '[a', 'a**b{', '(?<x';
refused(qq{$similar text/html "$_"}, qr/$similar expects a regular expression in visible ASCII/, "the expression '$_'")
    for ' ^/', '^/ ', "a\tb", "\xe4", "a\x7f";
accepted(qq{$similar "text/html, application/xhtml+xml" "^/[a-z]+/(\\d{4})/?\$"});

# Places.
accepted("<VirtualHost *>\nCRCSyncServer On\n</VirtualHost>");
accepted("<$_>\nCRCSyncServer On\nCRCSyncServerMinSize 0\n</" . s/ .*//r . '>')
    for 'Location /', 'Directory /', 'Files *.html', 'If "true"', 'LocationMatch .';
refused("<Location />\n<Limit GET>\n$_\n</Limit>\n</Location>", qr/cannot occur within <Limit>/, "$_ in Limit")
    for 'CRCSyncServer On', 'CRCSyncServerMinSize 0', 'CRCSyncServerTypes all', 'CRCSyncServerTypesExclude all',
    "$similar text/html a";
my $htaccess = CRCSync::ServerAlone->start(conf => "<Directory />\nAllowOverride All\n</Directory>\n");
spew($htaccess->dir . '/htdocs/.htaccess', "CRCSyncServer Off\n");
is($htaccess->get('/')->{status}, 500, 'C23: .htaccess is no place for it');
expect_log(qr/\.htaccess: CRCSyncServer not allowed here/);

# Merging: server, virtual host, directory; what a section does not say is the outer one's.
my $page = text(20_000, 1);
my @ask = ('changed' . $page, 20);
my $server = CRCSync::ServerAlone->start(ports => ['ON', 'OFF', 'INHERIT'], conf => <<'END');
Listen 127.0.0.1:@ON@
Listen 127.0.0.1:@OFF@
Listen 127.0.0.1:@INHERIT@
CRCSyncServerMinSize 1K
CRCSyncServerTypes text/html text/plain
CRCSyncServerTypesExclude text/csv
CRCSyncServerMaxBlockSize 2000
<Location /large.html>
    CRCSyncServerMinSize 100K
</Location>
<Location /blocks.html>
    CRCSyncServerMaxBlockSize 500
</Location>
<Location /plain.html>
    CRCSyncServerTypes text/plain
</Location>
<LocationMatch "^/level.*">
    CRCSyncServerCompressionLevel 0
</LocationMatch>
<VirtualHost 127.0.0.1:@ON@>
    CRCSyncServerMinSize 0
    CRCSyncServerTypes all
    <Location /off.html>
        CRCSyncServer Off
    </Location>
</VirtualHost>
<VirtualHost 127.0.0.1:@OFF@>
    CRCSyncServer Off
    <Location /on.html>
        CRCSyncServer On
    </Location>
</VirtualHost>
<VirtualHost 127.0.0.1:@INHERIT@>
</VirtualHost>
END
$server->page($_, $page) for qw(page.html large.html blocks.html plain.html off.html on.html page.css page.csv level.html);
$server->page('small.html', substr $page, 0, 500);

sub reason {
    my ($target, $port) = @_;
    my $httpd = $server->httpd;
    my $field = CRCSync::Delta::if_block(@ask);
    my $response = http_get($httpd->port($port // 'PORT'), $target, 'If-Block' => $field);
    my $log = $httpd->last_log(++$server->{asked});
    is(field($response, 'Content-Encoding') // '', $log->{result} eq 'delta' ? 'crcsync' : '', "$target: as the log says");
    return $log->{reason};
}
is(reason('/page.html'), '-', 'the server: a delta');
is(reason('/small.html'), 'too-small', 'its MinSize');
is(reason('/page.css'), 'type', 'its Types');
is(reason('/large.html'), 'too-small', "a location's MinSize");
is(reason('/blocks.html'), 'block-limit', "a location's MaxBlockSize");
is(reason('/plain.html'), 'type', "a location's Types");
is(reason('/small.html', 'ON'), '-', "a virtual host's MinSize");
is(reason('/page.css', 'ON'), '-', "a virtual host's Types");
is(reason('/page.csv', 'ON'), 'type', "the server's TypesExclude holds in it");
is(reason('/blocks.html', 'ON'), 'block-limit', "and the server's location");
is(reason('/off.html', 'ON'), 'disabled', 'a location that is off');
is(reason('/page.html', 'OFF'), 'disabled', 'a virtual host that is off');
is(reason('/on.html', 'OFF'), '-', 'a location in it that is on');
is(reason('/page.html', 'INHERIT'), '-', 'a virtual host that says nothing');
is(reason('/small.html', 'INHERIT'), 'too-small', 'has all from the server');

# What the level does.
my $new = text(20_000, 2);
$server->page($_, $new) for qw(page.html level.html);
my %bytes = map { $_ => length $server->ask(@ask, $_)->{body} } qw(/page.html /level.html);
cmp_ok($bytes{'/page.html'}, '<', 15_000, 'literals are compressed');
cmp_ok($bytes{'/level.html'}, '>', 20_000, 'with level 0 they are not');

done_testing;
