# The tests' own coder against the known check value, and against itself.
use strict;
use warnings;

use CRCSync::Delta qw(crc64 if_block make_delta sections apply_delta literal deflated block strong);
use CRCSync::Test;

is(sprintf('%016x', crc64('123456789')), '46a5a9388a5beffe', 'the check value');
my $base = text(10_000, 1);
my $field = if_block($base, 40);
like($field, qr/^v=1; fs=10000; h=[A-Za-z0-9+\/]{427}=$/, 'an If-Block field of 40 hashes');
is_deeply([CRCSync::Delta::parse_if_block($field)], [10_000, 40], 'and back');
my ($delta, $instance) = make_delta($base, 7, [0], 'new', [3], [6]);
is(join(' ', map { $_->[0] } sections($delta)), 'B L B B S', 'sections');
is_body(apply_delta($delta, $base, 7), $instance, 'a delta undone');
is_body(apply_delta(deflated($base x 3) . strong($base x 3), $base, 7), $base x 3, 'with a zlib stream');
for my $corrupt ($delta . 'X', substr($delta, 0, -1), block(7) . strong(''), literal('x'), literal('x') . strong('y')) {
    ok(!eval { apply_delta($corrupt, $base, 7); 1 }, "corrupt: $@");
}
done_testing;
