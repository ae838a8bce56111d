# Other filters (C24): what would disable the server module is named when the server starts, with file and line, and
# nothing else is.
use strict;
use warnings;

use CRCSync::ServerAlone;
use CRCSync::Test;

my $page = text(20_000, 1);
my @ask = ('CHANGED' . uc $page, 20);

# Each line with its expected warning, if any. `late` comes behind CRCSYNC_ENCODE, `last` just before it.
my $meets = qr/the filter late is put behind CRCSYNC_ENCODE, where it meets deltas/;
my $coding = qr/CRCSYNC_ENCODE cannot undo the coding (?:br|\*|zstd) that is asked for here/;
my @sections = (
    ['/late',      'SetOutputFilter late'                               => $meets],
    ['/late-list', 'SetOutputFilter DEFLATE;LATE'                       => qr/the filter LATE is put behind/],
    ['/late-name', 'AddOutputFilter late .html'                         => $meets],
    ['/late-type', 'AddOutputFilterByType late text/html'               => $meets],
    ['/provider',  'FilterProvider declared-late SUBSTITUTE true'       => qr/the filter SUBSTITUTE is put behind/],
    ['/self',      'SetOutputFilter CRCSYNC_ENCODE'                     => qr/CRCSYNC_ENCODE has no effect/],
    ['/br',        'RequestHeader set Accept-Encoding "gzip, br"'       => $coding],
    ['/any',       'RequestHeader append Accept-Encoding *'             => $coding],
    ['/zstd',      'RequestHeader merge accept-encoding "zstd;q=0.5"'   => $coding],
    ['/last',      'SetOutputFilter last'],
    ['/deflate',   'SetOutputFilter INCLUDES;DEFLATE;BROTLI_COMPRESS'],
    ['/by-type',   'AddOutputFilterByType DEFLATE text/html text/css'],
    ['/rate',      'SetOutputFilter RATE_LIMIT'],
    ['/unknown',   'SetOutputFilter no-such-filter'],
    ['/early',     'FilterProvider declared-early SUBSTITUTE true'],
    ['/gzip',      'RequestHeader set Accept-Encoding "gzip, deflate"'],
    ['/other',     'RequestHeader set Accept-Language br'],
    ['/unset',     'RequestHeader unset Accept-Encoding'],
);

sub start {
    my ($before, %options) = @_;
    my $conf = <<"END";
ExtFilterDefine late mode=output ftype=23 cmd="/usr/bin/tr a-z A-Z"
ExtFilterDefine last mode=output ftype=22 cmd="/usr/bin/tr a-z A-Z"
FilterDeclare declared-late PROTOCOL
FilterDeclare declared-early CONTENT_SET
END
    return CRCSync::ServerAlone->start(
        modules => [qw(ext_filter filter substitute ratelimit include brotli)],
        %options, conf => $conf . $before
    );
}

# What the start of one server says, but for the lines in which it says nothing of other filters.
sub warnings_of {
    my ($server) = @_;
    my @lines = grep { /crcsync: \S+httpd\.conf, line \d+: / } split /\n/, slurp($server->dir . '/error.log');
    my %seen;    # httpd reads its configuration twice
    return grep { !$seen{$_}++ } map { s/^.*?crcsync: //r } @lines;
}
expect_log(qr/crccache_server:warn.* crcsync: \S+httpd\.conf, line \d+: /);

my $server = start(join '', map { "<Location $_->[0]>\n    $_->[1]\n</Location>\n" } @sections);
my @warnings = warnings_of($server);
my @conf = split /\n/, slurp($server->dir . '/httpd.conf');
for my $section (@sections) {
    my ($path, $directive, $why) = @$section;
    my ($line) = grep { $conf[$_ - 1] eq "    $directive" } 1 .. @conf;
    my ($warning) = grep { /httpd\.conf, line $line: / } @warnings;
    if ($why) { like($warning, qr/^\S+, line $line: \w+: $why/, "C24: a warning at start: $directive") }
    else { is($warning, undef, "C24: no warning at start: $directive") }
}
is(scalar @warnings, scalar(grep { $_->[2] } @sections), 'C24: and no other warnings');

# What is warned of is what does harm.
$server->page($_, $page) for qw(late last late-type self);
my $late = $server->ask(@ask, '/late');
is(field($late, 'Content-Encoding'), 'crcsync', 'C24: a filter behind ours: it says that it is a delta');
ok(!defined eval { CRCSync::Delta::apply_delta($late->{body}, @ask) }, 'C24: a filter behind ours: it is none any more');
$server->is_delta($server->ask(@ask, '/last'), @ask, uc $page, 'C24: a filter just before ours');
my @plain = ('changed' . $page, 20);
$server->is_delta($server->ask(@plain, '/self'), @plain, $page, 'C24: our own filter by name');

# Where the module is off, others do as they like.
my ($on, $off, $late_here) = ("CRCSyncServer On\n", "CRCSyncServer Off\n", "SetOutputFilter late\n");

sub section {
    my ($head, @lines) = @_;
    return join '', "<$head>\n", @lines, '</' . $head =~ s/ .*//r . ">\n";
}
my %places = (
    'off in the section'            => [0, section('Location /a', $late_here, $off)],
    'off around the section'        => [0, section('Location /a', $off, section('If true', $late_here))],
    'off in the virtual host'       => [0, section('VirtualHost *:1', $off, $late_here)],
    'on in a section of the host'   => [1, section('VirtualHost *:1', $off, $late_here, section('Location /b', $on))],
    'on in another host\'s section' => [0, section('VirtualHost *:1', $off, $late_here)
            . section('VirtualHost *:2', section('Location /b', $on))],
    'on in the virtual host'        => [1, section('VirtualHost *:1', section('Location /a', $late_here))],
    'in an IfModule'                => [1, section('IfModule mod_ext_filter.c', $late_here)],
);
for my $name (sort keys %places) {
    my ($count, $conf) = @{$places{$name}};
    my $one = start($conf);
    is(scalar(my @all = warnings_of($one)), $count, "C24: $name");
    $one->httpd->stop;
}
my $without = CRCSync::Httpd->start(name => 'off', without => ['crccache_client'], modules => ['filter'], conf => <<'END');
SetOutputFilter CRCSYNC_ENCODE
RequestHeader set Accept-Encoding br
CRCSyncServer Off
END
unlike(slurp($without->{dir} . '/error.log'), qr/crcsync: /, 'C24: off everywhere: no word of other filters');

# What cannot be seen at start is said at the first request that shows it.
my $htaccess = start(<<'END', modules => [qw(ext_filter filter substitute brotli)]);
<Directory />
    AllowOverride All
</Directory>
END
is(scalar(my @none = warnings_of($htaccess)), 0, 'C24: .htaccess is not seen at start');
$htaccess->page('page.html', $page);
spew($htaccess->dir . '/htdocs/.htaccess', "SetOutputFilter BROTLI_COMPRESS\nRequestHeader set Accept-Encoding br\n");
my $response = $htaccess->ask(@ask, '/page.html');
is(field($response, 'Content-Encoding'), 'br', 'C24: a filter that codes before ours');
expect_log(qr/page.html: the filter brotli_compress codes responses before CRCSYNC_ENCODE sees them/);

done_testing;
