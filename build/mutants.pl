# build/mutants.sh: the work behind it.
use strict;
use warnings;

use CRCSync::Mutants;
use File::Basename qw(dirname);
use File::Compare qw(compare);
use File::Copy qw(copy);
use File::Path qw(make_path);
use Getopt::Long;
use Time::HiRes qw(time);

my $usage = <<'TEXT';
usage: build/mutants.sh [OPTION]... [CASE]...

Puts each mutation of t/mutations (of the cases named, else of all) into a copy of the code, builds it, and runs the
tests that the mutation names. Each of them must fail: then the mutation is killed. If one passes it has survived, and
shows that a test is too weak. All named tests run on the unchanged code first, and must pass.

  --list          only lists the mutations
  --passing       the tests are known to pass on the unchanged code, and are not run on it
  --scratch DIR   where the copy is, and stays: a second run builds less (default: a new directory, removed at the end)
  --jobs N        how many compilers run at a time (default 2)
  --help          this text

Exit status: 0 if all were killed. With ccache, all of it takes about half an hour on two processors.
TEXT

my $top = shift @ARGV;
my %option = (jobs => 2);
GetOptions(\%option, qw(list passing scratch=s jobs=i help)) or die $usage;
if ($option{help}) { print $usage; exit 0 }
my %wanted = map { $_ => 1 } @ARGV;
my @mutations = grep { !%wanted || $wanted{$_->{case}} } CRCSync::Mutants::read_all($top);
delete $wanted{$_->{case}} for @mutations;
# The first of each case, then the second of each: who stops a run has seen something of all cases.
my %turn;
$_->{turn} = ++$turn{$_->{case}} for @mutations;
@mutations = sort { $a->{turn} <=> $b->{turn} || $a->{case} cmp $b->{case} } @mutations;
die "mutants: no mutations for @{[sort keys %wanted]}\n" if %wanted;
if ($option{list}) {
    print "$_->{case}  $_->{what} (@{$_->{tests}})\n" for @mutations;
    exit 0;
}

my $scratch = $option{scratch};
my $temporary;
if (!$scratch) {
    require File::Temp;
    $temporary = File::Temp->newdir('crcsync-mutants-XXXXXX', TMPDIR => 1);
    $scratch = "$temporary";
}
my $build = "$scratch/_out/mutants";
$ENV{CCACHE_BASEDIR} = $scratch;
$ENV{CCACHE_NOHASHDIR} = 1;
# A test ends at its first failure: that is all we want to know.
$ENV{CRCSYNC_FIRST_FAILURE} = 1;
$| = 1;

copy_code();
configure();
compile(targets(map { @{$_->{tests}} } @mutations)) or die "mutants: the unchanged code does not build, see $scratch/log\n";
check_unchanged() unless $option{passing};
my %count = (killed => 0, survived => 0, stale => 0, broken => 0);
for my $mutation (@mutations) {
    my $start = time;
    my ($verdict, $why) = try($mutation);
    $count{$verdict}++;
    my $seconds = time - $start;
    printf "%-8s %s  %s%s (%d s)\n", $verdict, @$mutation{qw(case what)}, $why ? " [$why]" : '', $seconds;
}
print join(', ', map { "$count{$_} $_" } qw(killed survived stale broken)), "\n";
exit($count{killed} == @mutations ? 0 : 1);

# Only what git knows, or would: no build directories. Files that are the same keep their times, so that nothing is
# built anew.
sub copy_code {
    open my $list, '-|', 'git', '-C', $top, 'ls-files', '-co', '--exclude-standard', '-z' or die "git: $!\n";
    local $/ = "\0";
    while (my $file = <$list>) {
        chomp $file;
        next unless -f "$top/$file";
        make_path(dirname("$scratch/$file"));
        next if -e "$scratch/$file" && compare("$top/$file", "$scratch/$file") == 0;
        copy("$top/$file", "$scratch/$file") or die "$file: $!\n";
        chmod 0777 & (stat "$top/$file")[2], "$scratch/$file";
    }
    return;
}

sub configure {
    my @launcher = `which ccache` ? '-DCMAKE_CXX_COMPILER_LAUNCHER=ccache' : ();
    # Unoptimized, since most of the time goes into compiling.
    my @options = (qw(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0), '-DCRCSYNC_BENCH=OFF', '-DCRCSYNC_WERROR=OFF',
        @launcher);
    run_or_die("cmake -G Ninja -S '$scratch' -B '$build' @options >'$scratch/log' 2>&1");
    return;
}

sub compile {
    my (@targets) = @_;
    return system("cmake --build '$build' -j $option{jobs} --target @targets >'$scratch/log' 2>&1") == 0;
}

# What the tests need.
sub targets {
    my %targets;
    for my $test (@_) {
        $targets{$_} = 1 for $test =~ m{^unit/(\w+)$} ? $1 : qw(mod_crccache_server mod_crccache_client crcsync_tool);
    }
    return sort keys %targets;
}

sub passes {
    my ($test) = @_;
    my $command = $test =~ m{^unit/(\w+)$} ? "'$build/t/unit/$1'" : "'$scratch/t/TEST' --build '$build' '$test'";
    return system("timeout 600 $command >'$scratch/log' 2>&1") == 0;
}

sub check_unchanged {
    my %tests = map { $_ => 1 } map { @{$_->{tests}} } @mutations;
    for my $test (sort keys %tests) {
        passes($test) or die "mutants: $test fails on the unchanged code, see $scratch/log\n";
    }
    return;
}

# (verdict, why)
sub try {
    my ($mutation) = @_;
    my $read = sub { slurp("$scratch/$_[0]") };
    my %changed = eval { CRCSync::Mutants::apply($mutation, $read) };
    return (stale => $@ =~ s/^stale: //r =~ s/\n//r) if $@;
    my %unchanged = map { $_ => $read->($_) } keys %changed;
    spew("$scratch/$_", $changed{$_}) for keys %changed;
    my @verdict = 'killed';
    if (compile(targets(@{$mutation->{tests}}))) {
        my @passing = grep { passes($_) } @{$mutation->{tests}};
        @verdict = (survived => "@passing") if @passing;
    }
    else {
        @verdict = (broken => 'it does not build');
    }
    spew("$scratch/$_", $unchanged{$_}) for keys %unchanged;
    return @verdict;
}

sub run_or_die {
    my ($command) = @_;
    system($command) == 0 or die "mutants: failed: $command\n";
    return;
}

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or die "$path: $!\n";
    local $/ = undef;
    return scalar <$in>;
}

sub spew {
    my ($path, $text) = @_;
    open my $out, '>:raw', $path or die "$path: $!\n";
    print $out $text;
    close $out or die "$path: $!\n";
    return;
}
