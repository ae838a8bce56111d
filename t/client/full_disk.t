# The disk of the store runs full (C30): right pages, the reason store-error, and no child dies. mod_cache_disk by itself
# ends the child when an entity's header is what does not fit any more; that must not be reached.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(make_delta);
use CRCSync::Test;

# A file system of 12 MB, which TEST has mounted while it was root.
my $disk = $ENV{CRCSYNC_SMALL_DISK};
if (!$disk) {
    plan(skip_all => 'a small file system can be mounted by root only');
}
mkdir "$disk/cache" or die "$disk/cache: $!\n";
my $alone = CRCSync::ClientAlone->start(conf => <<"END");
CacheRoot $disk/cache
CacheEnable crcsync "/cached/"
END

# Fills the disk but for so many bytes.
sub leave {
    my ($bytes) = @_;
    unlink "$disk/fill";
    my ($free) = `df --output=avail -B1 $disk` =~ /(\d+)\s*\z/;
    open my $out, '>', "$disk/fill" or die "$disk/fill: $!\n";
    my $left = $free - $bytes;
    while ($left > 0) {
        my $part = $left < 65_536 ? $left : 65_536;
        syswrite($out, "x" x $part) or last;
        $left -= $part;
    }
    close $out;
    return;
}

my $page = text(100_000, 1);
my $fetch = 0;
for my $room (0, 4_096, 8_192, map { 100_000 + $_ * 4_096 } 0 .. 12) {
    leave($room);
    for my $path ('/page', '/cached/page') {
        my $target = "$path-" . ++$fetch;
        my @fields = ('Content-Type' => 'text/html');
        push @fields, 'Cache-Control' => 'max-age=1000' if $path =~ /cached/;
        $alone->full($target, body => $page, fields => \@fields);
        $alone->body_ok($target, $page, "C30: $room bytes free, $target");
        is($alone->note('reason'), 'store-error', "C30: $room bytes free, $target: the reason");
    }
}
unlink "$disk/fill";
$alone->base_ok('/again', $page);
$alone->body_ok('/again', $page, 'with room again');
ok((grep { defined field($_, 'If-Block') } $alone->requests), 'with room again there is a base');
expect_log(qr/the store cannot keep a base of/);

# The temporary file that holds a large instance: no room for it, and no deltas then, but right pages.
{
    local $ENV{TMPDIR} = "$disk/tmp";
    mkdir $ENV{TMPDIR};
    my $holds = CRCSync::ClientAlone->start(conf => "CRCSyncClientHoldMemory 10K\n");
    my $n = CRCSync::ClientAlone::BLOCKS;
    my ($delta, $instance) = make_delta($page, $n, map { [$_ % $n] } 0 .. 30 * $n - 1);
    my ($room, $no_room) = ('/held', '/not-held');
    for my $target ($room, $no_room) {
        $holds->base_ok($target, $page);
        $holds->delta($target, $delta);
        $holds->full($target, body => $instance, fields => ['Content-Type' => 'text/html']);
    }
    $holds->body_ok($room, $instance, 'room for the held instance');
    is($holds->note('result'), 'delta', 'room for the held instance: a delta');
    leave(1_000_000);
    $holds->body_ok($no_room, $instance, 'no room for the held instance');
    is($holds->note('result'), 'refetched', 'no room for the held instance: fetched again');
    is($holds->note('reason'), 'store-error', 'no room for the held instance: the reason');
    is(scalar(my @requests = grep { $_->{target} eq $no_room } $holds->requests), 2, 'no room: one refetch');
    unlink "$disk/fill";
    $holds->body_ok($room, $instance, 'room again');
    is(join(' ', glob "$disk/tmp/*"), '', 'no temporary file is left');
    expect_log(qr{/not-held: the delta gives no instance});
}

done_testing;
