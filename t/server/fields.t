# Which fields the server module sets, on all kinds of responses, and which it leaves alone.
use strict;
use warnings;

use CRCSync::ServerAlone;
use CRCSync::Test;

my $server = CRCSync::ServerAlone->start(conf => <<'END');
ErrorDocument 404 /not-found.html
Redirect 302 /moved http://127.0.0.1/elsewhere
<Location /vary.html>
    Header set Vary Cookie
</Location>
<Location /vary-always.html>
    Header always set Vary Cookie
</Location>
<Location /vary-both.html>
    Header add Vary Cookie
    Header always add Vary "Accept-Language, if-block"
</Location>
<Location /vary-star.html>
    Header set Vary *
</Location>
<Location /bad-request>
    Redirect 400
</Location>
<Location /off.html>
    CRCSyncServer Off
</Location>
SetEnvIf Request_URI "^/env" no-crcsync
<Location /setenv.html>
    SetEnv no-crcsync 1
</Location>
CRCSyncServerSimilar "text/html application/xhtml+xml" "^/news/[0-9]+$"
<LocationMatch ^/similar>
    CRCSyncServerSimilar "text/*" "^/inner/"
</LocationMatch>
END
my $page = text(50_000, 1);
my $base = text(25_000, 1) . 'changed' . substr $page, 25_000;
$server->page("$_.html", $page)
    for qw(page vary vary-always vary-both vary-star off env setenv similar not-found);
$server->page('plain.txt', $page);
$server->page('similar.txt', $page);

sub marked {
    my ($response, $name) = @_;
    is(field($response, 'Vary'), 'If-Block', "C04: $name: Vary");
    is(field($response, 'Capability'), 'crcsync; m=1', "$name: Capability");
    return;
}

my $plain = $server->get('/page.html');
marked($plain, 'a plain 200');
is_body($plain->{body}, $page, 'C06: no If-Block, no crcsync');
is(field($plain, 'Content-Length'), length $page, 'a plain 200: its length');
is(field($plain, 'Accept-Ranges'), 'bytes', 'a plain 200: Accept-Ranges');
my $tag = field($plain, 'ETag');
like($tag, qr/^"[^"]+"$/, 'a plain 200: its tag');

my $delta = $server->ask($base, 40, '/page.html');
$server->is_delta($delta, $base, 40, $page, 'a changed page');
marked($delta, 'a delta');
is(field($delta, 'ETag'), $tag =~ s/"$/-crcsync-identity"/r, 'a delta: the suffix inside the quotes');
is(field($delta, 'Content-Length'), length $delta->{body}, 'C12: a delta: its own length');
is(field($delta, 'Accept-Ranges'), undef, 'a delta: no Accept-Ranges');
is(fields_of($delta, qw(ETag Content-Length Accept-Ranges Content-Encoding)),
    fields_of($plain, qw(ETag Content-Length Accept-Ranges)), 'a delta: all other fields');
cmp_ok(length $delta->{body}, '<', 2_500, 'a delta: short');

# One that leaves in several pieces: httpd itself sets the length only of what it has whole.
my $noise = random_bytes(300_000, 7);
$server->page('noise.bin', $noise);
$server->is_delta($server->ask($base, 40, '/noise.bin'), $base, 40, $noise, 'C12: a delta in pieces has not the length of the page');

my $head = $server->request(HEAD => '/page.html', 'If-Block' => CRCSync::Delta::if_block($base, 40));
is(fields_of($head), fields_of($plain), 'C09: HEAD: as without If-Block');
is($server->log->{reason}, 'method', 'HEAD: the reason');
marked($server->request(HEAD => '/page.html'), 'HEAD');

my $range = $server->ask($base, 40, '/page.html', Range => 'bytes=100-199');
is($range->{status}, 206, 'Range: 206');
is_body($range->{body}, substr($page, 100, 100), 'C11: Range: bytes');
marked($range, 'Range');
is(field($range, 'ETag'), $tag, 'Range: its tag');
is($server->log->{reason}, 'range', 'Range: the reason');
is($server->ask($base, 40, '/page.html', Range => 'bytes=999999-')->{status}, 416, 'an impossible range: 416');

marked($server->get('/page.html', 'If-None-Match' => $tag), '304');
marked($server->get('/no-such-page'), 'an ErrorDocument');
marked($server->get('/bad-request'), 'a canned error page');
marked($server->get('/moved'), 'a redirect');
marked($server->request(POST => '/page.html', 'Content-Length' => 0), 'POST');
is($server->log->{reason}, 'method', 'POST: the reason');

# httpd itself writes it anew, without blanks, on its way out.
sub vary { return join ' + ', map { lc $_->[1] =~ s/ //gr } grep { lc $_->[0] eq 'vary' } @{$_[0]->{fields}} }

for my $with (0, 1) {
    my $get = sub { $with ? $server->ask($base, 40, @_) : $server->get(@_) };
    my $name = $with ? 'C04: delta' : 'C04: full';
    is(vary($get->('/vary.html')), 'cookie,if-block', "$name: Vary is merged");
    is(vary($get->('/vary-always.html')), 'cookie,if-block', "$name: and with one that is set always");
    is(vary($get->('/vary-star.html')), '*', "$name: a star stays");
    is(vary($get->('/vary-both.html')), 'cookie,accept-language,if-block', "$name: nothing twice");
}

for my $path (qw(/off.html /env.html /setenv.html)) {
    my $response = $server->ask($base, 40, $path, 'If-None-Match' => '"x-crcsync-gzip"');
    $server->is_full($response, $page, $path eq '/off.html' ? 'disabled' : 'env', $path);
    is(field($response, $_), undef, "$path: no $_") for qw(Vary Capability Crcsync-Similar);
}

my $similar = 'Crcsync-Similar';
is(field($server->get('/page.html'), $similar), '^/news/[0-9]+$', 'the expression for this type');
is(field($server->ask($base, 40, '/page.html'), $similar), '^/news/[0-9]+$', 'on a delta too');
is(field($server->get('/plain.txt'), $similar), undef, 'not for another type');
is(field($server->get('/similar.html'), $similar), '^/inner/', "an inner section's rule comes first");
is(field($server->get('/similar.txt'), $similar), '^/inner/', 'for the types that it names');

done_testing;
