# The second fetch goes where the first one went, by whatever a request is led upstream: it is the same request once
# more, but for If-Block (C36). What other modules do for a request they do once.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Stream;
use CRCSync::Test;
use File::Path qw(make_path);

my $docs = CRCSync::Work::new_dir('docs');
chmod 0755, $docs;
my $to = 'http://127.0.0.1:@TO@';

# Name, what is asked for, configuration. `.htaccess` is written beside what is asked for.
my @ways = (
    ['ProxyPass',                 '/pass/page',  qq{ProxyPass "/pass/" "$to/pass/"}],
    ['ProxyPass to another path', '/from/page',  qq{ProxyPass "/from/" "$to/to/"}],
    ['ProxyPassMatch',            '/match/page', qq{ProxyPassMatch "^/match/(.*)\$" "$to/to/match-\$1"}],
    ['ProxyPass in <Location>',   '/loc/page',   qq{<Location "/loc/">\nProxyPass "$to/loc/"\n</Location>}],
    ['a balancer', '/balancer/page',
        qq{<Proxy "balancer://one">\nBalancerMember "$to"\n</Proxy>\nProxyPass "/balancer/" "balancer://one/balancer/"}],
    ['[P]',     '/p/page',    qq{RewriteRule ^/p/(.*)\$ $to/p/\$1 [P]}],
    ['[P,END]', '/pend/page', qq{RewriteRule ^/pend/(.*)\$ $to/pend/\$1 [P,END]}],
    ['[P] unless redirected', '/cond/page', qq{RewriteCond %{ENV:REDIRECT_STATUS} ^\$\nRewriteRule ^/cond/(.*)\$ $to/cond/\$1 [P]}],
    ['[P] with a query', '/query/page?b=2', qq{RewriteRule ^/query/(.*)\$ $to/query/\$1?a=1 [P,QSA]}],
    ['[P] in <Directory>', '/dir/page', qq{<Directory "$docs/dir">\nRewriteEngine On\nRewriteRule ^(.*)\$ $to/dir/\$1 [P]\n</Directory>}],
    ['[P,END] in <Directory>', '/dirend/page',
        qq{<Directory "$docs/dirend">\nRewriteEngine On\nRewriteRule ^(.*)\$ $to/dirend/\$1 [P,END]\n</Directory>}],
    ['[P] in .htaccess', '/ht/page', '', qq{RewriteEngine On\nRewriteRule ^(.*)\$ $to/ht/\$1 [P]\n}],
    ['[P,END] in .htaccess', '/htend/page', '', qq{RewriteEngine On\nRewriteRule ^(.*)\$ $to/htend/\$1 [P,END]\n}],
    ['SetHandler in <Location>', '/handler/page', qq{<Location "/handler/">\nSetHandler "proxy:$to"\n</Location>}],
    ['SetHandler in <FilesMatch>', '/files/page.app', qq{<FilesMatch "\\.app\$">\nSetHandler "proxy:$to"\n</FilesMatch>}],
    ['SetHandler in <If>', '/if/page', qq{<If "%{REQUEST_URI} =~ m#^/if/#">\nSetHandler "proxy:$to"\n</If>}],
    ['DirectoryIndex', '/index/', qq{<Directory "$docs/index">\nDirectoryIndex index.app\n</Directory>}],
    ['FallbackResource', '/fallback/no/such/page',
        qq{<Directory "$docs/fallback">\nFallbackResource /fallback/front.app\n</Directory>}],
);

# A file at each place: the reader would get it if the request were mapped otherwise.
for my $path (qw(/index/index.app /fallback/front.app /index.html), map { $_->[1] =~ s/\?.*//r } grep { $_->[1] =~ /page/ } @ways) {
    next if $path =~ m{/no/such/};
    make_path("$docs$path" =~ s{/[^/]*\z}{}r);
    spew("$docs$path", "a local file, not the page\n");
}

# What other modules do: once, and with what they know of the request.
my $others = <<'END';
CookieTracking On
Header always add X-Once always
Header add X-Once onsuccess
SetEnvIf Request_URI . env-request
RewriteRule . - [E=env-rule:1]
RewriteCond %{HTTP:X-Cookies} .
RewriteRule . - [CO=rule:1:.example.com]
RequestHeader set X-Env-Request 1 env=env-request
RequestHeader set X-Env-Rule 1 env=env-rule
RequestHeader add X-Added 1
RemoteIPHeader X-Forwarded-For
RemoteIPInternalProxy 127.0.0.1
END

my ($base, $page) = (text(20_000, 1), text(20_000, 2));
my @html = ('Content-Type' => 'text/html');
my @reader = ('Accept-Encoding' => 'gzip, br', 'X-Forwarded-For' => '192.0.2.7', 'X-Cookies' => '1');

sub all_fields {
    my ($message, %without) = @_;
    return [
        sort map { "$_->[0]: $_->[1]" =~ s/: Apache=\K[^;]*/a cookie/r } grep { !$without{lc $_->[0]} } @{$message->{fields}}
    ];
}

sub second_fetch_ok {
    my ($alone, $name, $asked) = @_;
    # Where it leads, the origin knows.
    $alone->get($asked);
    my ($first) = $alone->requests;
    ok($first, "$name: goes upstream") or return;
    my $at = $first->{target};
    # Without any failure.
    $alone->full($at, body => $page, fields => [@html, 'Set-Cookie' => 'page=1']);
    my $plain = $alone->body_ok($asked, $page, "$name: the plain page", @reader);
    my ($plain_request) = $alone->requests;
    cmp_ok(scalar(my @lines = CRCSync::Stream::field_lines($plain, 'Set-Cookie')), '>=', 3, "$name: cookies of all who set one");

    my @failures = (
        ['corrupt', body => 'X'],
        ['cut', close => 1, raw => "HTTP/1.1 200 OK\r\nContent-Encoding: crcsync\r\nX-First: 1\r\nContent-Length: 9\r\n\r\nL"],
        ['refused', status => 400, body => 'no', fields => [@html, 'X-First' => 1, 'Set-Cookie' => 'first=1']],
    );
    for my $failure (@failures) {
        my ($how, %answer) = @$failure;
        $alone->full($at, body => $base, fields => [@html]);
        $alone->body_ok($asked, $base, "$name, $how: the base", Cookie => 'Apache=known');
        $alone->with_if_block($at, fields => [@html, 'Content-Encoding' => 'crcsync', 'X-First' => 1], %answer);
        $alone->full($at, body => $page, fields => [@html, 'Set-Cookie' => 'page=1']);
        $alone->requests;
        my $response = $alone->body_ok($asked, $page, "$name, $how: the page", @reader);
        is($alone->note('result'), 'refetched', "C36: $name, $how: noted");
        is_deeply(all_fields($response, date => 1), all_fields($plain, date => 1), "$name, $how: the fields of the plain page");
        my @requests = $alone->requests;
        is(scalar @requests, 2, "$name, $how: two requests") or next;
        isnt(field($requests[0], 'If-Block'), undef, "$name, $how: the first with If-Block");
        is($requests[1]{target}, $at, "C36: $name, $how: the second to the same place");
        is_deeply(
            all_fields($requests[1], 'cache-control' => 1),
            all_fields($plain_request), "C36: $name, $how: the fields of a plain request"
        );
    }
    return;
}

my %options = (
    proxy   => 0,
    modules => [qw(remoteip usertrack unique_id proxy_balancer slotmem_shm lbmethod_byrequests)],
);
my $start = qq{DocumentRoot "$docs"\nRewriteEngine On\n$others}
    . qq{<Directory "$docs">\nRequire all granted\nOptions FollowSymLinks\nAllowOverride FileInfo\n</Directory>\n};
my $alone = CRCSync::ClientAlone->start(%options, conf => $start . join "\n", map({ $_->[2] } @ways), '');
for my $way (@ways) {
    my ($name, $asked, undef, $htaccess) = @$way;
    spew("$docs$asked" =~ s{[^/]*\z}{.htaccess}r, $htaccess =~ s/\@TO\@/$alone->origin->port/er) if defined $htaccess;
    second_fetch_ok($alone, $name, $asked);
}
$alone = CRCSync::ClientAlone->start(
    %options,
    socket => 1,
    conf   => qq{$start\nProxyPass "/unix/" "unix:\@SOCKET\@|http://origin.example/unix/"\n},
);
second_fetch_ok($alone, 'a UNIX socket', '/unix/page');

expect_log(qr/the delta gives no instance/);
allow_log(qr/AH01110|AH10508|proxy_http:error/);
done_testing;
