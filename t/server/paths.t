# httpd's own ways to a page (C21): coded once, with the right status, and no If-Block left behind.
use strict;
use warnings;

use CRCSync::Delta qw(if_block);
use CRCSync::ServerAlone;
use CRCSync::Test;

my $conf = <<'END';
DirectoryIndex index.html
ErrorDocument 404 /error/404.html
ErrorDocument 403 /error/403.shtml
ErrorDocument 410 /cgi/says-200
ScriptSock @DIR@/cgisock
ScriptAlias /cgi/ @DIR@/cgi/
RewriteEngine On
RewriteRule ^/passed/(.*)$ /$1 [PT]
RewriteRule ^/gone$ - [G]
RewriteRule ^/away$ /page.html [R]
<Location /forbidden>
    Require all denied
</Location>
<LocationMatch ^/(off|denied-off)>
    CRCSyncServer Off
</LocationMatch>
<Location /denied-off>
    Require all denied
    ErrorDocument 403 /cgi/says-200
</Location>
<Directory @DIR@/htdocs>
    Options +Includes
    RewriteEngine On
    RewriteRule ^inner/(.*)$ /$1
    RewriteRule ^off/to-on.html$ /page.html
    RewriteRule ^to-off.html$ /off/page.html
    RewriteCond %{HTTP:If-Block} .
    RewriteRule ^off/if-block.html$ /page.html
    RewriteCond %{HTTP:If-Block} .
    RewriteRule ^on-if-block.html$ /page.html
</Directory>
# mod_dir moves a request here after header_parser.
<Directory @DIR@/htdocs/moved-off>
    <Files index.html>
        CRCSyncServer Off
    </Files>
</Directory>
<Directory @DIR@/htdocs/moved-on>
    CRCSyncServer Off
    <Files index.html>
        CRCSyncServer On
    </Files>
</Directory>
ScriptAlias /cgi-off/ @DIR@/cgi-off/
<Directory @DIR@/cgi-off>
    CRCSyncServer Off
</Directory>
<Directory @DIR@/htdocs/to-cgi-on>
    DirectoryIndex /cgi/echo
    CRCSyncServer Off
</Directory>
<Directory @DIR@/htdocs/to-cgi-off>
    DirectoryIndex /cgi-off/echo
</Directory>
<If "%{QUERY_STRING} == 'off'">
    CRCSyncServer Off
</If>
AddOutputFilter INCLUDES .shtml
AddType text/html .shtml
Alias /proxied @DIR@/htdocs
ProxyPass /proxied/ http://127.0.0.1:@TO@/
END
my $origin = CRCSync::Origin->start;
my $server = CRCSync::ServerAlone->start(modules => ['cgid'], conf => $conf, vars => {TO => $origin->port});
my $page = text(30_000, 1);
my @ask = ('changed' . $page, 30);
my $htdocs = $server->dir . '/htdocs';
mkdir "$htdocs/$_" or die for qw(error off moved-off moved-on to-cgi-on to-cgi-off dir);
mkdir $server->dir . "/$_" or die for qw(cgi cgi-off);
$server->page($_, $page)
    for qw(page.html index.html error/404.html off/page.html moved-off/index.html moved-on/index.html dir/index.html);
spew($server->dir . '/cgi/says-200', "#!/bin/sh\nprintf 'Status: 200 OK\\nContent-Type: text/html\\n\\n'\n"
        . "cat '$htdocs/page.html'\n");
spew($server->dir . "/$_/echo", "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nenv\nprintf '%05000d' 0\n") for qw(cgi cgi-off);
spew($server->dir . '/cgi/redirect', "#!/bin/sh\nprintf 'Location: /page.html\\n\\n'\n");
chmod 0755, glob $server->dir . '/cgi*/*';

for my $path (qw(/ /dir/ /passed/page.html /inner/page.html /cgi/redirect /off/to-on.html /moved-on/)) {
    my $delta = $server->ask(@ask, $path);
    $server->is_delta($delta, @ask, $page, "C21: $path");
    is(scalar(grep { lc $_->[0] eq 'content-encoding' } @{$delta->{fields}}), 1, "C21: $path: coded once");
    is($server->log->{result}, 'delta', "$path: the log says so");
}
for my $path (qw(/to-off.html /moved-off/ /page.html?off)) {
    my $tag = field($server->get($path), 'ETag');
    my $response = $server->ask(@ask, $path);
    $server->is_full($response, $page, 'disabled', $path);
    is(field($response, 'Vary'), undef, "$path: no Vary");
    my $again = $server->ask(@ask, $path, 'If-None-Match' => $tag);
    is($again->{status}, 304, "$path: 304");
}

my $missing = $server->ask(@ask, '/nowhere');
is($missing->{status}, 404, 'C21: an ErrorDocument keeps its status');
$server->is_full($missing, $page, 'status', 'C21: an ErrorDocument');
is(field($missing, 'Vary'), 'If-Block', 'an ErrorDocument: Vary');
is(field($missing, 'Capability'), 'crcsync; m=1', 'an ErrorDocument: Capability');
is($server->ask(@ask, '/forbidden')->{status}, 403, 'an ErrorDocument that is missing itself');
is($server->request(POST => '/nowhere', 'If-Block' => if_block(@ask), 'Content-Length' => 0)->{status}, 404,
    'POST to nowhere');
is($server->log->{reason}, 'method', 'its ErrorDocument is no answer to a GET');
# One that says 200 is a page like any other.
my $gone = $server->ask(@ask, '/gone');
$server->is_delta($gone, @ask, $page, 'an ErrorDocument that says 200');
$server->is_full($server->request(POST => '/gone', 'If-Block' => if_block(@ask), 'Content-Length' => 0), $page, 'method',
    'the same for a POST');
$server->is_delta($server->ask(@ask, '/denied-off'), @ask, $page, 'the same from a section that is off');
$server->is_full($server->request(POST => '/denied-off', 'If-Block' => if_block(@ask), 'Content-Length' => 0), $page,
    'method', 'and for a POST');
is($server->ask(@ask, '/away')->{status}, 302, 'a redirect');
is($server->ask(@ask, '/dir')->{status}, 301, "mod_dir's slash");

# SSI: what is included is asked for without If-Block, and the whole is coded once.
spew("$htdocs/all.shtml", qq{<h1>Start</h1><!--#include virtual="/page.html" -->middle}
        . qq{<!--#include virtual="/cgi/echo" --><!--#include file="page.html" -->end});
my $plain = $server->get('/all.shtml')->{body};
like($plain, qr/Start.*middle.*GATEWAY_INTERFACE.*end$/s, 'an SSI page');
my @base = ($plain, 60);
my $delta = $server->ask(@base, '/all.shtml');
my $instance = CRCSync::Delta::apply_delta($delta->{body}, @base);
like($instance, qr/^<h1>Start.*middle.*GATEWAY_INTERFACE.*end$/s, 'the same as a delta');
cmp_ok(length $delta->{body}, '<', length($plain) / 4, 'of few bytes');
unlike($instance, qr/HTTP_IF_BLOCK/, 'C21: no If-Block for what is included');
like($instance, qr/HTTP_ACCEPT_ENCODING=identity/, 'but identity');
unlike($server->get('/cgi/echo')->{body}, qr/HTTP_ACCEPT_ENCODING/, 'which a plain request does not get');

# mod_rewrite, after header_parser, sees what the section wants to be seen.
$server->is_delta($server->ask(@ask, '/off/if-block.html'), @ask, $page, 'a condition on If-Block where we are off');
is($server->ask(@ask, '/on-if-block.html')->{status}, 404, 'and where we are on');

# mod_dir finds out late which section it is: the script sees what that section wants it to see.
my $on = CRCSync::Delta::apply_delta($server->ask(@ask, '/to-cgi-on/')->{body}, @ask);
unlike($on, qr/HTTP_IF_BLOCK/, 'C21: from a section that is off to one that is on: no If-Block left');
like($on, qr/HTTP_ACCEPT_ENCODING=identity/, 'and identity');
my $to_off = $server->ask(@ask, '/to-cgi-off/', 'Accept-Encoding' => 'br')->{body};
like($to_off, qr/HTTP_IF_BLOCK=/, 'from one that is on to one that is off: If-Block is back');
like($to_off, qr/HTTP_ACCEPT_ENCODING=br/, 'and Accept-Encoding');

# A section that is off gets the request as it came.
$origin->put('/echo', body => $page, fields => ['Content-Type' => 'text/html']);
my $proxy = CRCSync::ServerAlone->start(to => $origin->port, conf => <<'END');
<Location /off>
    CRCSyncServer Off
</Location>
SetEnvIf X-Bypass . no-crcsync
<Location /perdir>
    SetEnvIf X-Perdir . no-crcsync
</Location>
END
my %sent = (
    'If-Block'        => if_block(@ask),
    'Accept-Encoding' => 'gzip, br;q=0.5',
    'If-None-Match'   => '"a-crcsync-gzip", "b"',
    'If-Match'        => '"c-crcsync-identity"',
    'If-Range'        => '"d-crcsync-identity"',
    'X-Bypass'        => 1,
    'X-Perdir'        => 1,
);
for (['/off', 'X-Bypass'], ['/bypass', 'X-Perdir'], ['/perdir', 'X-Bypass']) {
    my ($path, $without) = @$_;
    $origin->put($path, body => $page, fields => ['Content-Type' => 'text/html']);
    $origin->requests;
    my %fields = %sent;
    delete $fields{$without};
    $proxy->get($path, %fields);
    my ($request) = $origin->requests;
    is(field($request, $_), $fields{$_}, "$path: the origin sees $_ as it came") for sort keys %fields;
}
# Without Accept-Encoding there is none afterwards.
$origin->requests;
$proxy->ask(@ask, '/off');
is(field(($origin->requests)[0], 'Accept-Encoding'), undef, 'what was not there is not there');

# mod_cache in the same server: one plain entity serves full pages and deltas, from the handler and the quick handler.
for my $quick ('On', 'Off') {
    my $cache = CRCSync::ServerAlone->start(to => $origin->port, conf => <<"END");
CacheEnable disk /
CacheQuickHandler $quick
CacheHeader On
<Location /cached-off>
    CRCSyncServer Off
</Location>
END
    for my $path ('/cached', '/cached-off') {
        $origin->put($path, body => $page,
            fields => ['Content-Type' => 'text/html', 'Cache-Control' => 'max-age=1000', ETag => '"x"']);
    }
    my $first = $cache->ask(@ask, '/cached');
    $cache->is_delta($first, @ask, $page, "quick handler $quick, a miss");
    my $response;
    CRCSync::Work::wait_for(
        'the cache',
        sub { $response = $cache->get('/cached'); return field($response, 'X-Cache') =~ /^HIT/ }
    );
    is_body($response->{body}, $page, "quick handler $quick: the cache holds the page, not the delta");
    is(field($response, 'ETag'), '"x"', "quick handler $quick: and its tag");
    is(field($response, 'Vary'), 'If-Block', "quick handler $quick: one Vary");
    my $hit = $cache->ask(@ask, '/cached');
    like(field($hit, 'X-Cache'), qr/^HIT/, "quick handler $quick: a hit");
    $cache->is_delta($hit, @ask, $page, "quick handler $quick: as a delta");
    my $again = $cache->ask(@ask, '/cached', 'If-None-Match' => '"x-crcsync-identity"');
    is($again->{status}, 304, "quick handler $quick: 304 from the cache");
    is(field($again, 'ETag'), '"x-crcsync-identity"', "quick handler $quick: its tag");
    is(field($again, 'Vary'), 'If-Block', "quick handler $quick: its Vary");

    # The quick handler knows no sections: a hit follows the server's own setting.
    $cache->get('/cached-off');
    CRCSync::Work::wait_for('the cache',
        sub { field($response = $cache->get('/cached-off'), 'X-Cache') =~ /^HIT/ });
    $response = $cache->ask(@ask, '/cached-off');
    like(field($response, 'X-Cache'), qr/^HIT/, "quick handler $quick, section off: a hit");
    if ($quick eq 'On') { $cache->is_delta($response, @ask, $page, 'section off: a delta all the same') }
    else { $cache->is_full($response, $page, 'disabled', 'section off: a full page from the normal handler') }
}

# Off everywhere: nothing of ours to be seen, not even for the log.
my $off = CRCSync::Httpd->start(name => 'off', without => ['crccache_client'], conf => "CRCSyncServer Off\n");
spew($off->dir . '/htdocs/page.html', $page);
my $response = http_get($off->port, '/page.html', 'If-Block' => if_block(@ask));
is_body($response->{body}, $page, 'C22: off: the page');
is(field($response, 'Vary'), undef, 'C22: off: no Vary');
is($off->last_log(1)->{result}, '-', 'C22: off: no notes');

allow_log(qr/AH01630/);
done_testing;
