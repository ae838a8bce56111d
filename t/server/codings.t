# Bodies that come coded, and responses whose exact bytes are promised (C07, C12).
use strict;
use warnings;

use Compress::Zlib qw(memGzip compress);
use CRCSync::Delta qw(sections);
use CRCSync::ServerAlone;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my $server = CRCSync::ServerAlone->start(to => $origin->port, conf => <<'END');
<Location /always-gzip>
    Header always set Content-Encoding gzip
</Location>
<Location /always-br>
    Header always set Content-Encoding br
</Location>
<Location /always-zstd>
    Header always set Content-Encoding zstd
</Location>
<Location /always-md5>
    Header always set Content-MD5 "1B2M2Y8AsgTpgAmY7PhCfg=="
</Location>
END
my $page = text(50_000, 1);
my @ask = ('changed' . $page, 40);

sub put {
    my ($target, $body, @fields) = @_;
    $origin->put($target, body => $body, fields => ['Content-Type' => 'text/html', ETag => '"x"', @fields]);
    return;
}

sub raw_deflate {
    my ($deflate) = Compress::Zlib::deflateInit(-WindowBits => -Compress::Zlib::MAX_WBITS());
    my ($one) = $deflate->deflate($_[0]);
    my ($two) = $deflate->flush;
    return $one . $two;
}

# --- what can be undone
for (
    ['gzip',    'gzip',    memGzip($page)],
    ['GZip',    'gzip',    memGzip($page)],
    ['x-gzip',  'x-gzip',  memGzip($page)],
    ['deflate', 'deflate', compress($page)],
    ['deflate', 'deflate', raw_deflate($page)],
    ['gzip',    'gzip',    memGzip(substr $page, 0, 20_000) . memGzip(substr $page, 20_000)],
    )
{
    my ($coding, $suffix, $body) = @$_;
    put('/coded', $body, 'Content-Encoding' => $coding);
    my $delta = $server->ask(@ask, '/coded');
    $server->is_delta($delta, @ask, $page, "C07: $coding");
    is(field($delta, 'ETag'), qq{"x-crcsync-$suffix"}, "$coding: its name in the tag");
    is($server->log->{'instance-bytes'}, length $page, "$coding: the size of the instance");
    my $full = $server->get('/coded');
    is_body($full->{body}, $body, "$coding: as it is without If-Block");
    is(field($full, 'Content-Encoding'), $coding, "$coding: with its name");
}
put('/always-gzip', memGzip($page));
$server->is_delta($server->ask(@ask, '/always-gzip'), @ask, $page, 'C07: gzip that is announced in err_headers_out');
put('/identity', $page, 'Content-Encoding' => 'identity');
$server->is_delta($server->ask(@ask, '/identity'), @ask, $page, 'identity is no coding');

# mod_mime's codings are in no table of fields.
my $files = CRCSync::ServerAlone->start(conf => <<'END');
AddEncoding gzip .gz
AddEncoding br .br
<Location /trailer.html>
    Header set Trailer "Expires, Repr-Digest"
</Location>
END
$files->page('page.html.gz', memGzip($page));
$files->page('page.html.br', 'not really brotli' x 100);
my $delta = $files->ask(@ask, '/page.html.gz');
$files->is_delta($delta, @ask, $page, 'C07: a gzipped file');
like(field($delta, 'ETag'), qr/-crcsync-gzip"$/, 'a gzipped file: its tag');
$files->is_full($files->ask(@ask, '/page.html.br'), 'not really brotli' x 100, 'already-coded', 'C07: a brotli file');

# DEFLATE in this server sees `Accept-Encoding: identity` and leaves the page alone.
my $deflating = CRCSync::ServerAlone->start(conf => <<'END', modules => ['brotli']);
SetOutputFilter DEFLATE
SetEnvIf Request_URI forced force-gzip
<Location /brotli.html>
    SetOutputFilter BROTLI_COMPRESS
    RequestHeader set Accept-Encoding br
</Location>
END
$deflating->page($_, $page) for qw(page.html forced.html brotli.html);
$delta = $deflating->ask(@ask, '/page.html', 'Accept-Encoding' => 'gzip');
$deflating->is_delta($delta, @ask, $page, 'a server with DEFLATE');
like(field($delta, 'ETag'), qr/-crcsync-identity"$/, 'a server with DEFLATE: not coded');
like(field($delta, 'Vary'), qr/Accept-Encoding/, 'a server with DEFLATE: its Vary');
is(field($deflating->get('/page.html', 'Accept-Encoding' => 'gzip'), 'Content-Encoding'), 'gzip',
    'a server with DEFLATE: gzip without If-Block');
$delta = $deflating->ask(@ask, '/forced.html', 'Accept-Encoding' => 'gzip');
$deflating->is_delta($delta, @ask, $page, 'forced gzip');
like(field($delta, 'ETag'), qr/-crcsync-gzip"$/, 'forced gzip: undone');
is(field($deflating->ask(@ask, '/brotli.html'), 'Content-Encoding'), 'br', 'C07: forced brotli passes');
is($deflating->log->{reason}, 'already-coded', 'forced brotli: the reason');
expect_log(qr/line \d+: RequestHeader: CRCSYNC_ENCODE cannot undo the coding br/);
expect_log(qr/brotli.html: the filter brotli_compress codes responses before CRCSYNC_ENCODE sees them/);

# --- what can't
for my $coding ('br', 'zstd', 'gzip, gzip', 'gzip, br', 'crcsync', 'aes128gcm') {
    my $body = random_bytes(20_000);
    put('/other', $body, 'Content-Encoding' => $coding);
    my $response = $server->ask(@ask, '/other');
    is_body($response->{body}, $body, "C07: $coding passes");
    is(field($response, 'Content-Encoding'), $coding, "$coding: with its name");
    is(field($response, 'ETag'), '"x"', "$coding: with its tag");
    is(field($response, 'Content-Length'), 20_000, "C12: $coding: with its length");
    is($server->log->{reason}, 'already-coded', "$coding: the reason");
}
put('/twice', $page, 'Content-Encoding' => 'gzip', 'Content-Encoding' => 'gzip');
is_body($server->ask(@ask, '/twice')->{body}, $page, 'C07: two fields of a coding pass');
is($server->log->{reason}, 'already-coded', 'two fields of a coding: the reason');
for my $coding ('br', 'zstd') {
    put("/always-$coding", $page);
    $server->is_full($server->ask(@ask, "/always-$coding"), $page, 'already-coded', "C07: $coding in err_headers_out");
}

# --- promises about the bytes
for my $field ('Digest', 'Repr-Digest', 'Content-Digest', 'Content-MD5') {
    for my $coding (undef, 'gzip') {
        my $body = $coding ? memGzip($page) : $page;
        my $name = "C12: $field" . ($coding ? ', gzip' : '');
        put('/digest', $body, $field => 'sha-256=:value:', $coding ? ('Content-Encoding' => $coding) : ());
        my $response = $server->ask(@ask, '/digest');
        $server->is_full($response, $body, 'digest', $name);
        is(field($response, $field), 'sha-256=:value:', "$name: stays");
        is(field($response, 'Content-Encoding'), $coding, "$name: coding untouched");
    }
}
put('/always-md5', $page);
$server->is_full($server->ask(@ask, '/always-md5'), $page, 'digest', 'C12: Content-MD5 in err_headers_out');
$files->page('trailer.html', $page);
$files->is_full($files->ask(@ask, '/trailer.html'), $page, 'digest', 'C12: a digest that is announced as trailer');
for my $control ('no-transform', 'max-age=10, No-Transform') {
    put('/control', $page, 'Cache-Control' => $control);
    $server->is_full($server->ask(@ask, '/control'), $page, 'no-transform', $control);
}
put('/control', $page, 'Cache-Control' => 'private, max-age=1, no-store');
$server->is_delta($server->ask(@ask, '/control'), @ask, $page, 'other directives forbid nothing');

# --- types that are compressed already: matched, not deflated
for (['image/png', 'L'], ['application/zip', 'L'], ['image/svg+xml', 'Z'], ['text/html', 'Z']) {
    my ($type, $id) = @$_;
    $origin->put('/typed', body => $page, fields => ['Content-Type' => $type]);
    my $response = $server->ask(text(50_000, 2), 40, '/typed');
    is(join(' ', map { $_->[0] } grep { $_->[0] ne 'S' } sections($response->{body})) =~ s/ .*//r, $id,
        "$type: literals in $id sections");
}

done_testing;
