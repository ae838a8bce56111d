# Deltas that are lies in valid or nearly valid form: what a far end that means harm, or has lost its mind, might send.
package CRCSync::HostileDeltas;

use strict;
use warnings;

use Compress::Zlib ();
use Exporter qw(import);

use CRCSync::Delta qw(blocks block literal deflated strong);

our @EXPORT_OK = qw(hostile_delta inflates_to_zeros);

# One of them, chosen by the mutation's random numbers: for a `base` in `count` blocks, in place of an honest `delta` for
# the page `new`. Some are right in their own way: they give `new` too.
sub hostile_delta {
    my ($random, $base, $count, $new, $delta) = @_;
    my @blocks = blocks($base, $count);
    my $good = literal($new);
    my $hash = strong($new);
    my @made = (
        # Right, if strange.
        sub { $hash . $good },
        sub { literal('') x (1 + $random->below(20_000)) . $good . $hash },
        sub { deflated('') x (1 + $random->below(2_000)) . $good . $hash },
        sub { join('', map { literal($_) } split //, $new) . $hash },
        sub { join('', map { deflated($_) } $new =~ /.{1,50}/gs) . $hash },
        # Form.
        sub { $good . chr($random->below(256)) . $hash },
        sub { $good . $hash . $random->one_of("\0", "\n", 'S', 'B', block(0), literal(''), $hash, $good, $random->bytes(20)) },
        sub { $good . block($random->one_of($count, 255)) . $hash },
        sub { 'L' . pack('N', $random->one_of(0xffffffff, 0x80000000, 0x7fffffff, length($new) + 1)) . $new . $hash },
        sub { 'L' . pack('N', length($new) - 1) . $new . $hash },
        sub { $good },
        sub { '' },
        sub { $random->bytes(1 + $random->below(300)) },
        sub { join '', map { $random->one_of('B', 'L', 'Z', 'S') . $random->bytes($random->below(8)) } 1 .. 50 },
        sub { "<html>$new" },
        sub { substr $delta, 0, $random->below(1 + length $delta) },
        sub { substr $delta, $random->below(1 + length $delta) },
        sub { $delta . $delta },
        # Streams.
        sub { my $z = deflated($new); substr($z, $random->below(length $z), 1) ^= chr(1 + $random->below(255)); $z . $hash },
        sub { substr(deflated($new), 0, -4) . $hash },
        sub { "Z\x78\xbb\x00\x00\x00\x01" . $hash },
        sub { 'Z' . Compress::Zlib::memGzip($new) . $hash },
        sub { 'Z' . inflates_to_zeros(1 << (20 + $random->below(4))) . $hash },
        # The hash.
        sub { $good . strong($random->bytes(10)) },
        sub { $good . strong('') },
        sub { block($random->below($count)) x (1 + $random->below(2_000)) . $hash },
        # Another base, or another order of the same blocks.
        sub { join('', map { block($_) } reverse 0 .. $count - 1) . $hash },
        sub { my @order = map { $random->below($count) } 1 .. 20; join('', map { block($_) } @order) . strong(join '', map { scalar reverse $blocks[$_] } @order) },
    );
    return $made[$random->below(scalar @made)]->();
}

# A zlib stream, without its end, of `size` bytes of zeros: a thousandth of that on the wire. format => 'gzip' for gzip.
sub inflates_to_zeros {
    my ($size, %options) = @_;
    my $piece = 1 << 20;
    my ($deflate) = Compress::Zlib::deflateInit(-WindowBits => -Compress::Zlib::MAX_WBITS());
    # What follows a full flush depends on nothing before it: one piece, again and again.
    my ($once) = $deflate->deflate("\0" x $piece);
    my ($flushed) = $deflate->flush(Compress::Zlib::Z_FULL_FLUSH());
    my $head = ($options{format} // 'zlib') eq 'gzip' ? "\x1f\x8b\x08\0\0\0\0\0\0\x03" : "\x78\x9c";
    return $head . "$once$flushed" x (($size + $piece - 1) / $piece);
}

1;
