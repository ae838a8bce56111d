# Answers to If-Block that are no deltas, however they begin, are the reader's: none is lost, none is asked for twice, and
# the base stays.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(if_block);
use CRCSync::Test;

my $n = CRCSync::ClientAlone::BLOCKS;
my $alone = CRCSync::ClientAlone->start;
my $base = text(20_000, 1);
my @capable = (Capability => 'crcsync; m=1', Vary => 'If-Block');

my $cases = 0;
# --- short ones that begin with the letter of a section
for my $answer ('Saved', 'Stopped', 'List', 'B', 'L', 'S', 'Z', 'L 12 items', 'Block 7', 'BB', "L\0\0\0", "Z\x78\x9c") {
    for my $with ([], \@capable) {
        my $target = '/short-' . ++$cases;
        $alone->base_ok($target, $base);
        $alone->with_if_block($target, body => $answer, fields => ['Content-Type' => 'text/plain', @$with]);
        my $name = (length $answer == 1 ? 'C10: ' : 'C40: ') . unpack('H*', $answer) . (@$with ? ', capable' : '');
        $alone->body_ok($target, $answer, $name);
        my @requests = $alone->requests;
        is(scalar @requests, 1, "$name: asked for once") if defined field($requests[0], 'If-Block');
    }
}
$alone->base_ok('/kept', $base);
$alone->with_if_block('/kept', body => 'Saved', fields => ['Content-Type' => 'text/plain', @capable]);
$alone->body_ok('/kept', 'Saved', 'a short answer');
$alone->requests;
$alone->get('/kept');
is(field(($alone->requests)[0], 'If-Block'), if_block($base, $n), 'the base is still there: what is too small replaces none');

# --- an error that the application makes, with If-Block or without, does not stop the deltas of others
for my $status (400, 413, 431) {
    my $target = "/refused-$status";
    $alone->base_ok($target, $base);
    $alone->$_($target, status => $status, body => 'no', fields => ['Content-Type' => 'text/plain'])
        for qw(with_if_block full);
    is($alone->get($target)->{status}, $status, "$status for both: the reader gets it");
    is(scalar(my @all = $alone->requests), 2, "$status for both: asked again once");
    $alone->get($target);
    ok(defined field(($alone->requests)[0], 'If-Block'), "$status for both: If-Block is sent as before");
}

# --- an empty body has no coding to undo
$alone->full('/empty', body => '', fields => ['Content-Type' => 'text/html', 'Content-Encoding' => 'gzip']);
my $response = $alone->get('/empty', 'Accept-Encoding' => 'identity');
is($response->{status}, 200, 'an empty gzip body: status');
is($response->{body}, '', 'an empty gzip body');

done_testing;
