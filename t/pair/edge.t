# The server module in the origin's own httpd, not in a proxy: files, SSI, ErrorDocument, mod_rewrite, mod_dir (C21).
use strict;
use warnings;

use CRCSync::Delta qw(if_block);
use CRCSync::Pair;
use CRCSync::Test;

my $origin = CRCSync::Httpd->start(
    name    => 'origin',
    without => ['crccache_client'],
    conf    => <<'END',
CRCSyncServer On
CRCSyncServerMinSize 0
ErrorDocument 404 /missing.html
DirectoryIndex page.html
<Directory @DIR@/htdocs>
    Options +Includes
    AddType text/html .shtml
    AddOutputFilter INCLUDES .shtml
</Directory>
RewriteEngine On
RewriteRule ^/old/(.*)$ /$1 [PT]
<Location /off>
    CRCSyncServer Off
</Location>
Alias /off @DIR@/htdocs
SetEnvIf X-No-Delta . no-crcsync
END
);
my $relay = CRCSync::Relay->start(to => $origin->port);
my $client = CRCSync::Httpd->start(
    name    => 'client',
    without => ['crccache_server'],
    vars    => {TO => $relay->port},
    conf    => CRCSync::Pair::client_conf() . "CRCSyncClientMinBase 64\n",
);
my $pair = CRCSync::Pair->of(to => $origin->port, client => $client, relay => $relay);
my $root = $origin->dir . '/htdocs';

my $page = text(100_000);
spew("$root/page.html", $page);
spew("$root/missing.html", text(3_000, 4));
spew("$root/included.shtml", text(3_000, 2) . '<!--#include virtual="/page.html" -->' . text(3_000, 3));

# Fields that the server module adds for the client module, and that end there; and what a delta loses on the line.
my @ours = qw(Capability Vary Accept-Ranges);
for my $turn (1 .. 3) {
    for my $target ('/page.html', '/', '/included.shtml', '/old/page.html', '/nowhere', '/old/nowhere', '/off/page.html') {
        my (undef, @exchanges) = $pair->same_ok(GET => $target, "C21: $target, fetch $turn", without => \@ours);
        my $answer = $exchanges[0]{response};
        my $delta = $turn > 1 && $target !~ /nowhere|off/;
        is(field($answer, 'Content-Encoding'), $delta ? 'crcsync' : undef, "$target, fetch $turn: on the line");
        if ($target =~ /off/) {
            is(field($answer, 'Capability'), undef, "$target: no Capability where it is off");
        }
    }
    # A file that changes, and so does what includes it.
    substr $page, 1_000 * $turn, 6, "turn $turn";
    spew("$root/page.html", $page);
}
my (undef, @exchanges) = $pair->get('/page.html');
is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', 'a delta');
(undef, @exchanges) = $pair->get('/page.html', 'X-No-Delta' => 1);
is(field($exchanges[0]{response}, 'Content-Encoding'), undef, 'no-crcsync by SetEnvIf: none');

# An If-Block for a page that is missing is not taken for the error document's.
my $missing = http_get($origin->port, '/nowhere', 'If-Block' => if_block(text(3_000, 4), 10));
is($missing->{status}, 404, 'a 404');
is(field($missing, 'Content-Encoding'), undef, 'is not encoded');
is_body($missing->{body}, text(3_000, 4), 'and has its document');

done_testing;
