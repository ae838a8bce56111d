# Which responses become deltas, by size, type and status.
use strict;
use warnings;

use CRCSync::Delta qw(if_block);
use CRCSync::ServerAlone;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my $page = text(20_000, 1);
my @ask = ('changed' . $page, 20);

sub typed { my ($type) = @_; return fields => [defined $type ? ('Content-Type' => $type) : ()] }

# --- size
my $server = CRCSync::ServerAlone->start(to => $origin->port, conf => "CRCSyncServerMinSize 1K\n");
for my $size (0, 1, 127, 1023) {
    my $body = substr $page, 0, $size;
    $origin->put('/length', body => $body, typed('text/html'));
    $server->is_full($server->ask(@ask, '/length'), $body, 'too-small', "$size bytes with a length");
}
for my $size (1024, 1025) {
    $origin->put('/length', body => substr($page, 0, $size), typed('text/html'));
    $server->is_delta($server->ask(@ask, '/length'), @ask, substr($page, 0, $size), "$size bytes with a length");
}
$origin->put('/chunked', chunked => ['short'], typed('text/html'));
my $response = $server->ask(@ask, '/chunked');
# Whether the end comes with the data decides the line, not us; the bytes are right either way.
if (field($response, 'Content-Encoding')) { $server->is_delta($response, @ask, 'short', 'a short chunked body') }
else { $server->is_full($response, 'short', 'too-small', 'a short chunked body') }

my $files = CRCSync::ServerAlone->start(conf => "CRCSyncServerMinSize 200\nAddOutputFilter INCLUDES .shtml\n"
        . "<Directory />\nOptions +Includes\n</Directory>\n");
$files->page('page.shtml', 'x' x 100);
$files->is_full($files->ask(@ask, '/page.shtml'), 'x' x 100, 'too-small', 'no length, but all in one brigade');
$files->page('page.shtml', 'x' x 200);
$files->is_delta($files->ask(@ask, '/page.shtml'), @ask, 'x' x 200, 'the same, large enough');

my $all = CRCSync::ServerAlone->start(to => $origin->port, conf => "CRCSyncServerMinSize 0\n");
$origin->put('/tiny', body => '1', typed('text/html'));
$all->is_delta($all->ask(@ask, '/tiny'), @ask, '1', 'C10: one byte');
$origin->put('/tiny', body => '', typed('text/html'));
$all->is_full($all->ask(@ask, '/tiny'), '', 'too-small', 'C10: nothing is never a delta');
$origin->put('/status', status => 204, body => '');
$all->is_full($all->ask(@ask, '/status'), '', 'status', 'C10: 204');

# --- type
my $typed = CRCSync::ServerAlone->start(to => $origin->port, conf => <<'END');
CRCSyncServerTypes text/* application/JSON
CRCSyncServerTypesExclude text/css multipart/*
CRCSyncServerTypesExclude text/csv
<Location /all>
    CRCSyncServerTypes all
    CRCSyncServerTypesExclude image/*
</Location>
END
my %wanted = (
    '/some' => {
        'text/html'                => 1,
        'Text/HTML; charset=utf-8' => 1,
        'text/plain ;x=y'          => 1,
        'application/json'         => 1,
        'text/css'                 => 0,
        'TEXT/CSS;charset=utf-8'   => 0,
        'text/csv'                 => 0,
        'image/svg+xml'            => 0,
        'application/json-patch'   => 0,
        'application/octet-stream' => 0,
        'texts/html'               => 0,
    },
    '/all' => {
        'text/css'        => 1,
        'application/zip' => 1,
        'image/svg+xml'   => 0,
        'nonsense'        => 1,
    },
);
for my $path (sort keys %wanted) {
    for my $type (sort keys %{$wanted{$path}}) {
        $origin->put($path, body => $page, typed($type));
        my $answer = $typed->ask(@ask, $path);
        if ($wanted{$path}{$type}) { $typed->is_delta($answer, @ask, $page, "$path, $type") }
        else { $typed->is_full($answer, $page, 'type', "$path, $type") }
    }
    $origin->put($path, body => $page, typed(undef));
    my $answer = $typed->ask(@ask, $path);
    if ($path eq '/all') { $typed->is_delta($answer, @ask, $page, "$path, no type") }
    else { $typed->is_full($answer, $page, 'type', "$path, no type") }
}
$origin->put('/events', body => $page, typed('text/event-stream; charset=utf-8'));
$all->is_full($all->ask(@ask, '/events'), $page, 'event-stream', 'C13: an event stream');

# --- status
for my $status (201, 203, 206, 226, 300, 301, 400, 404, 410, 500, 503) {
    $origin->put('/status', status => $status, body => $page,
        fields => ['Content-Type' => 'text/html', $status == 206 ? ('Content-Range' => 'bytes 0-19999/30000') : ()]);
    my $answer = $all->ask(@ask, '/status');
    is($answer->{status}, $status, "$status: passes");
    $all->is_full($answer, $page, $status == 206 ? 'range' : 'status', $status == 206 ? 'C11: 206' : $status);
    is($all->log->{result}, 'bypassed', "$status: the result");
}
$origin->put('/status', body => $page, fields => ['Content-Type' => 'text/html', 'Content-Range' => 'bytes 0-1/2']);
$all->is_full($all->ask(@ask, '/status'), $page, 'range', 'C11: a 200 with Content-Range');

# --- method
for my $method (qw(POST PUT DELETE OPTIONS PROPFIND PATCH)) {
    $origin->put('/method', body => $page, typed('text/html'));
    my $answer = $all->request($method => '/method', 'If-Block' => if_block(@ask), 'Content-Length' => 0);
    $all->is_full($answer, $page, 'method', $method);
    is(field(($origin->requests)[-1], 'If-Block'), undef, "$method: the origin sees no If-Block");
}

# --- the log notes
$origin->put('/page', body => $page, typed('text/html'));
$all->get('/page');
my $log = $all->log;
is_deeply([@$log{qw(result reason base wire-bytes request-bytes)}], ['full', 'no-base', '-', length $page, '-'],
    'notes of a full response');
my $delta = $all->ask(@ask, '/page');
$log = $all->log;
my $size = length $delta->{body};
is_deeply(
    [@$log{qw(result reason base instance-bytes wire-bytes request-bytes ratio)}],
    ['delta', '-', '-', length $page, $size, length('If-Block: ' . if_block(@ask)) + 2, int(100 * $size / length $page)],
    'notes of a delta'
);
my $literal = 0;
$literal += length $_->[1] for grep { $_->[0] =~ /[LZ]/ } CRCSync::Delta::sections($delta->{body});
is($log->{'literal-bytes'}, $literal, 'and its literal bytes');
is(scalar CRCSync::ErrorLog::lines(qr/crcsync server: \/page: result=delta /), 1, 'one line in the debug log');

done_testing;
