# Trouble while readers go on: every body that arrives is checked against what the origin sends (CRCSync::Stamped). After
# each kind of trouble the pair serves deltas again (C17, C30, C33, C38).
use strict;
use warnings;

use File::Find ();
use File::Path qw(remove_tree);
use Time::HiRes qw(sleep);

use CRCSync::Faults;
use CRCSync::Pair;
use CRCSync::Readers;
use CRCSync::Stamped;
use CRCSync::Test;

my $origin = CRCSync::Stamped->origin(6_000);
my $faults = CRCSync::Faults->new;
# No connection between the modules is kept: an httpd whose clock jumps closes what it keeps, and mod_proxy, with and without
# our modules, answers 502 when that happens just as it asks.
my $pair = CRCSync::Pair->start(
    to            => $origin->port,
    client        => "SetEnv proxy-nokeepalive 1\n",
    client_faults => $faults,
    server_faults => $faults,
);
my $cache = $pair->client->dir . '/cache';
my @targets = map { "/page$_" } 1 .. 4;
my $load = soak(fast => 20, full => 200);

sub files {
    my @files;
    File::Find::find({no_chdir => 1, wanted => sub { push @files, $_ if -f }}, $cache);
    @files = sort @files;
    return @files;
}

# After the trouble: right pages, and a delta at the latest at the third fetch of each.
sub recovers {
    my ($name) = @_;
    for my $target (@targets) {
        my $delta = 0;
        for my $fetch (1 .. 3) {
            my ($response, @exchanges) = $pair->get($target);
            ok($response && $response->{status} == 200 && CRCSync::Stamped::version($target, $response->{body}),
                "$name: afterwards, $target, fetch $fetch");
            $delta ||= (field($exchanges[-1]{response}, 'Content-Encoding') // '') eq 'crcsync';
            last if $delta;
        }
        ok($delta, "$name: afterwards, $target is a delta again");
    }
    return;
}

# Runs `trouble` while readers go on. `clean`: no reader may notice anything.
sub while_reading {
    my ($name, $clean, $trouble) = @_;
    my @children = map { $_->children } $pair->client, $pair->server;
    my $readers = CRCSync::Readers->start(port => $pair->port, targets => \@targets, count => 4);
    $readers->more(8);
    $trouble->($readers);
    $readers->more(8);
    my %sum = $readers->stop;
    note("$name: " . join ', ', map { "$_ $sum{$_}" } sort keys %sum);
    is($sum{wrong}, 0, "$name: no wrong byte");
    cmp_ok($sum{right}, '>', 0, "$name: there were readers");
    if ($clean) {
        is($sum{$_}, 0, "$name: $_") for qw(errors broken);
        my %now = map { $_ => 1 } map { $_->children } $pair->client, $pair->server;
        is_deeply([grep { !$now{$_} } @children], [], "$name: no child has died");
    }
    recovers($name);
    return;
}

while_reading('no trouble', 1, sub { $_[0]->more($load) });

for my $side (qw(client server)) {
    while_reading(
        "children of the $side are killed",
        0,
        sub {
            my ($readers) = @_;
            for (1 .. soak(fast => 3, full => 50)) {
                kill 'KILL', $pair->{$side}->children;
                $readers->more($load / 2);
            }
        }
    );
}

while_reading(
    'C30: the store is read-only',
    1,
    sub {
        my ($readers) = @_;
        my @directories;
        File::Find::find({no_chdir => 1, wanted => sub { push @directories, $_ if -d }}, $cache);
        chmod 0500, $_ for @directories;
        $readers->more($load);
        chmod 0700, $_ for @directories;
    }
);
while_reading(
    'C33: the store is moved away and comes back',
    1,
    sub {
        my ($readers) = @_;
        rename $cache, "$cache.away" or die "$cache: $!\n";
        $readers->more($load);
        remove_tree($cache);
        rename "$cache.away", $cache or die "$cache: $!\n";
    }
);
while_reading(
    'C33: the store is deleted',
    1,
    sub {
        my ($readers) = @_;
        for (1 .. 3) {
            remove_tree($cache, {error => \my $what_is_being_written});
            $readers->more($load / 2);
        }
        mkdir $cache;
    }
);
while_reading(
    'C30: a cleaner runs',
    1,
    sub {
        my ($readers) = @_;
        mkdir $cache;
        for (1 .. soak(fast => 5, full => 300)) {
            system "htcacheclean -t -p $cache -l 1B >/dev/null 2>&1";
            $readers->more(2);
        }
    }
);
# Only what is in place already: a file that is still being written is the provider's own.
my %damage = (
    'files are deleted'     => sub { unlink $_[0] },
    'files are cut'         => sub { truncate $_[0], (-s $_[0] || 0) / 2 },
    'files are overwritten' => sub {
        open my $out, '+<', $_[0] or return;
        seek $out, (-s $out || 0) / 2, 0;
        print $out 'damage';
        close $out;
    },
    'headers change places' => sub {
        my ($file, @others) = @_;
        my ($other) = grep { /\.header$/ && $_ ne $file } @others or return;
        rename $other, "$file.other";
        rename $file, $other;
        rename "$file.other", $file;
    },
);
for my $how (sort keys %damage) {
    while_reading(
        "C38: $how",
        1,
        sub {
            my ($readers) = @_;
            for my $turn (1 .. soak(fast => 8, full => 400)) {
                my @files = grep { /\.(?:data|header)$/ } files();
                @files = grep { /\.header$/ } @files if $how =~ /headers/;
                $damage{$how}->($files[$turn % @files], @files) if @files;
                $readers->more(3);
            }
        }
    );
}
while_reading(
    'the clock is wrong',
    1,
    sub {
        my ($readers) = @_;
        for my $hours (-2, 5, -1000, 1, 0) {
            $faults->clock($hours * 3600);
            $readers->more($load / 2);
        }
    }
);
# Whatever was written in another time is in the way of nobody.
for my $hours (-30, 30) {
    $faults->clock($hours * 3600);
    recovers("$hours hours");
}
$faults->clock(0);
recovers('the right time again');

while_reading(
    'C17: the line breaks',
    0,
    sub {
        my ($readers) = @_;
        for my $cut (100, 700, 3_000, 15_000, 60_000) {
            $pair->relay->change(cut => $cut);
            $readers->more($load / 2);
        }
        $pair->relay->change;
    }
);

allow_log(qr/exit signal Killed|cache_disk|\[cache:|crcsync: .*(?:damaged|the store cannot keep|gives no instance)/);
allow_log(qr/\[proxy(?:_http)?:|crcsync: .*(?:cut off|nothing that can be used)|relay|scoreboard|MaxRequestWorkers/);
done_testing;
