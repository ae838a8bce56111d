#!/usr/bin/perl
# The demo's origin: the front page of a made-up newspaper, new at each request.
#
# What changes is what changes on real pages: a clock, a news item on top of the list, tokens in forms and scripts, a
# few counters. The rest stays. Each page has a serial number, and its bytes and SHA-256 are written to $DEMO_STATE
# before they are sent, so that a reader can check what arrived against what left. If $DEMO_STATE/replay holds a number,
# the next request gets that page once more: so the same bytes are measured plain, with gzip and as a delta.
#
# The text is made from word lists with a random generator that starts from the item's number: the same item always has
# the same words. It compresses as other pages do: gzip -6 leaves a fifth, where real ones have 12 to 30 percent.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use Fcntl qw(:flock O_RDWR O_CREAT);
use POSIX qw(strftime);

my $state = $ENV{DEMO_STATE} or die "DEMO_STATE is not set\n";
my $first_items = 73;      # on the first page
my $most_items  = 160;     # then the oldest one falls off at the end
my $pages_kept  = 100;     # for replays
my $epoch       = 1_767_258_000;

my %words = (
    place => [qw(Ashford Birkholm Calder Dunmore Eastwick Farrow Glenmoor Hartwell Inverlea Jarrow Kestrel Langport
        Marwick Northam Oakhurst Penrith Quarley Ravenglass Selby Thornbury Ulverton Vickers Westbrook Yarmouth Zeal
        Portsea Millbay Saltmarsh Kingsferry Greywater)],
    person => [qw(Adeyemi Bergstrom Castellano Dvorak Eriksen Fontaine Gallagher Haddad Ivanova Jankowski Kowalczyk
        Lindqvist Moreau Nakamura Okafor Petrov Quigley Rasmussen Santos Takahashi Ueda Varga Whitfield Xiong Yilmaz
        Zimmermann Abernathy Brannigan Chaudhry Delacroix)],
    given => [qw(Amara Bjorn Carla Dmitri Elena Farid Greta Hana Idris Jonas Katya Liam Mei Nadia Oscar Priya Quentin
        Rosa Samir Tilda Ursula Viktor Wanda Yusuf Zoe)],
    role => ['harbour master', 'council leader', 'head teacher', 'bus driver', 'marine biologist', 'shop owner',
        'union secretary', 'chief engineer', 'hospital director', 'retired judge', 'football coach', 'park ranger',
        'librarian', 'fire chief', 'student', 'farmer', 'museum curator', 'baker', 'night nurse', 'town planner',
        'tax inspector', 'lighthouse keeper', 'choir conductor', 'beekeeper', 'locksmith'],
    thing => ['ferry terminal', 'school roof', 'tram line', 'flood wall', 'swimming pool', 'wind farm',
        'railway bridge', 'market hall', 'cycle path', 'fish quota', 'water main', 'county budget', 'parking permit',
        'housing estate', 'bus timetable', 'village shop', 'concert hall', 'lifeboat station', 'rubbish contract',
        'playground', 'ring road', 'power cable', 'theatre season', 'nature reserve', 'allotment garden', 'bakery',
        'quarry', 'town clock', 'fishing fleet', 'recycling plant', 'orchard',
        'canal lock', 'heating grid', 'post office'],
    verb => ['approves', 'delays', 'questions', 'celebrates', 'rejects', 'reopens', 'counts the cost of', 'votes on',
        'loses patience with', 'finds money for', 'says farewell to', 'moves ahead with', 'takes a second look at',
        'wins praise for', 'goes to court over', 'quietly drops', 'plans to double', 'defends', 'inspects', 'insures'],
    past => ['approved', 'delayed', 'questioned', 'measured', 'rejected', 'reopened', 'paid for', 'photographed',
        'sold', 'repaired', 'painted', 'argued about', 'signed', 'surveyed', 'flooded', 'cleared', 'mapped', 'leased',
        'abandoned', 'rebuilt', 'audited', 'fenced off', 'rewired', 'drained'],
    adjective => ['unexpected', 'costly', 'modest', 'long-awaited', 'muddy', 'quiet', 'ambitious', 'half-finished',
        'popular', 'unfinished', 'controversial', 'narrow', 'generous', 'temporary', 'stubborn', 'cheerful', 'overdue',
        'remarkable', 'dusty', 'draughty', 'leaking', 'brightly lit', 'windswept', 'forgotten', 'crowded', 'spotless'],
    reason => ['the winter storms', 'a missing signature', 'rising fuel prices', 'a rare species of newt',
        'an error in the drawings', 'the summer visitors', 'a shortage of steel', 'two anonymous donations',
        'the new speed limit', 'a change in the tide tables', 'a petition with four thousand names', 'frozen ground',
        'last year\'s election', 'a lost key', 'the noise at night', 'a grant from the lottery', 'salt in the wells',
        'a dispute about overtime', 'old mine workings', 'the price of timber', 'an unpaid invoice',
        'the heatwave in July', 'a burst pipe', 'pigeons', 'a mistranslated letter'],
    time => ['before breakfast', 'late on Tuesday', 'after a long debate', 'within a fortnight', 'by the end of March',
        'for the third time', 'without a single vote against', 'in front of a full gallery', 'over the weekend',
        'despite heavy rain', 'during the school holidays', 'at the last minute', 'to general surprise',
        'under the eyes of inspectors', 'in less than an hour', 'on the first dry day of the month',
        'between two council meetings', 'shortly after midnight'],
    quality => ['patience', 'fresh paint', 'a proper drain', 'more daylight', 'a second opinion', 'goodwill',
        'insurance', 'volunteers', 'a working lift', 'common sense', 'spare parts', 'better signs', 'a longer jetty',
        'silence', 'a fair hearing', 'thicker glass', 'wider pavements', 'honest figures'],
    section => [qw(Local Business Sport Culture Weather Science Transport Letters Education Health)],
);

my @sentences = (
    'The %adjective %thing in %place was %past %time, and few people expected it.',
    '%given %person, a %role from %place, blames %reason.',
    '"What we need is %quality, and then %quality," said %given %person, the %role.',
    'A report that this newspaper has seen puts the cost at %number thousand, not counting %reason.',
    'Residents of %place and %place had asked for %quality since %year.',
    'Work on the %thing stops because of %reason; the %thing next to it is not affected.',
    'The %role would not comment, but %given %person calls the decision "%adjective and rather %adjective".',
    'Nearly %number people signed up %time, more than in all of %year.',
    'It is the %ordinal time that the %thing has been %past since %year.',
    'Experts from %place warn that %reason could return, and recommend %quality.',
    'If nothing changes, the %thing will be %past %time, says the %role.',
    'Councillor %person asked whether %reason had been considered at all; it had not.',
    'Not everyone agrees: %given %person has collected %number signatures against the %adjective plan.',
    'The %thing, %past in %year, still serves %number households between %place and %place.',
    'In %place the same idea failed because of %reason, as the %role remembers.',
    'Tickets cost %small, children under twelve pay half, and there is %quality for everybody.',
    'A second %thing is to follow, provided that %reason does not get in the way.',
    '%person and %person have been at odds over the %thing since %year.',
    'For the moment some %adjective fence keeps visitors away from the %thing.',
    'The minister promised %quality %time; the %role is still waiting for it.',
    'What began as a complaint about %reason has turned into a campaign for %quality.',
    'Police found the %adjective remains of a %thing %number metres from the shore.',
);

sub pick { my ($list) = @_; return $list->[int rand @$list]; }

sub word {
    my ($kind) = @_;
    return pick($words{$kind}) if $words{$kind};
    return 10 + int rand 4900 if $kind eq 'number';
    return 3 + int rand 40 if $kind eq 'small';
    return 1890 + int rand 135 if $kind eq 'year';
    return pick([qw(second third fourth fifth sixth tenth)]) if $kind eq 'ordinal';
    die "no words of kind $kind\n";
}

sub fill { my ($text) = @_; $text =~ s/%([a-z]+)/word($1)/ge; return $text; }

# Item number $n of the news list, the same at each call.
sub item {
    my ($n) = @_;
    # Neighbouring seeds give neighbouring first values; a digest of the number doesn't.
    my $digest = sha256_hex("item $n");
    srand(hex substr $digest, 0, 8);
    my $place    = word('place');
    my $headline = join ' ', $place, word('verb'), pick(['its', 'the']), word('adjective'), word('thing');
    (my $slug = lc $headline) =~ s/[^a-z0-9]+/-/g;
    my $published = $epoch + 1380 * $n + int rand 1200;
    my $section   = word('section');
    my $author    = word('given') . ' ' . word('person');
    my $text      = join ' ', map { fill(pick(\@sentences)) } 1 .. 4 + int rand 3;
    my @tags = map { word('thing') } 1 .. 2;
    my $tags = join '', map { '<a href="/tag/' . (tr/ /-/r) . qq(">$_</a> ) } @tags;
    my $date = strftime('%Y/%m/%d', gmtime $published);
    my $when = strftime('%Y-%m-%dT%H:%MZ', gmtime $published);
    my $said = strftime('%d %B, %H:%M', gmtime $published);
    my $comments = int rand 240;
    my $image    = '/media/' . substr($digest, 8, 2) . '/' . substr($digest, 10, 32);
    my $caption  = fill('The %thing in ' . $place . ', %past in %year. Photo: %given %person');
    return <<"HTML";
      <article class="story story--@{[lc $section]}" id="story-$n">
        <h2 class="story__head"><a href="/$date/$slug">$headline</a></h2>
        <img class="story__image" src="$image.jpg" srcset="$image-2x.jpg 2x" width="320" height="180" alt="$caption">
        <p class="story__meta"><time datetime="$when">$said</time> &middot; $section &middot; by $author</p>
        <p class="story__text">$text</p>
        <p class="story__tags">$tags<a href="/$date/$slug#comments">$comments comments</a></p>
      </article>
HTML
}

sub token { return join '', map { ('a' .. 'z', 'A' .. 'Z', 0 .. 9)[rand 62] } 1 .. $_[0]; }

sub page {
    my ($serial) = @_;
    my $newest = $first_items + $serial - 1;
    my $oldest = $newest - $most_items + 1;
    $oldest = 1 if $oldest < 1;
    my $items = join '', map { item($_) } reverse $oldest .. $newest;

    # From here on each request is its own.
    open my $random, '<', '/dev/urandom' or die "/dev/urandom: $!\n";
    read $random, my $seed, 4;
    srand(unpack 'L', $seed);
    my ($csrf, $nonce, $request) = (token(43), token(22), token(20));
    my $clock  = strftime('%A, %d %B %Y, %H:%M:%S UTC', gmtime);
    my $online = 300 + int rand 900;
    my @sections = @{$words{section}};
    my $menu = join "\n", map { qq(        <li><a class="menu" href="/section/@{[lc $_]}">$_</a></li>) } @sections;
    my $weather = join "\n", map {
        qq(        <tr><th scope="row">$_</th><td>@{[4 + int rand 9]} &deg;C</td><td>@{[int rand 30]} km/h</td></tr>)
    } @{$words{place}}[0 .. 7];
    return <<"HTML";
<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="csrf-token" content="$csrf">
    <title>The Harbour Post: news from the coast</title>
    <style nonce="$nonce">
      body { font: 17px/1.5 Georgia, serif; margin: 0 auto; max-width: 72rem; color: #222; background: #fdfcf8 }
      .bar, .menu { display: flex; flex-wrap: wrap; gap: 1rem; padding: .5rem 1rem; border-bottom: 1px solid #ccc }
      .menu { list-style: none; margin: 0 } .story { padding: 1rem; border-bottom: 1px dotted #bbb }
      .story__meta, .story__tags { font-size: 80%; color: #666 } main { display: grid; grid-template-columns: 3fr 1fr }
      \@media (max-width: 50rem) { main { display: block } }
    </style>
  </head>
  <body>
    <header class="bar">
      <strong>The Harbour Post</strong> <span id="clock">$clock</span> <span>$online readers online</span>
      <form action="/login" method="post"><input type="hidden" name="csrf" value="$csrf">
        <input name="user" placeholder="Name"><input name="password" type="password"><button>Log in</button></form>
    </header>
    <nav><ul class="menu">
$menu
    </ul></nav>
    <main>
    <section id="news">
$items    </section>
    <aside>
      <table class="weather"><caption>The weather now</caption>
$weather
      </table>
    </aside>
    </main>
    <footer class="bar">
      <form action="/newsletter" method="post"><input type="hidden" name="csrf" value="$csrf">
        <input name="mail" type="email" placeholder="Mail address"><button>Send me the evening edition</button></form>
      <span>Page $serial, request $request</span>
    </footer>
    <script nonce="$nonce">window.post = {page: $serial, request: "$request"};</script>
  </body>
</html>
HTML
}

sub read_file {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    local $/;
    return <$file>;
}

sub write_file {
    my ($path, $bytes) = @_;
    open my $file, '>', "$path.new" or die "$path.new: $!\n";
    print {$file} $bytes;
    close $file or die "$path.new: $!\n";
    rename "$path.new", $path or die "$path: $!\n";
    return;
}

# The next serial number; concurrent requests each get their own.
sub next_serial {
    sysopen my $file, "$state/serial", O_RDWR | O_CREAT or die "$state/serial: $!\n";
    flock $file, LOCK_EX or die "$state/serial: $!\n";
    my $serial = (<$file> // 0) + 1;
    seek $file, 0, 0;
    print {$file} $serial;
    truncate $file, length $serial;
    close $file or die "$state/serial: $!\n";
    return $serial;
}

sub main {
    my ($serial, $body);
    if (-e "$state/replay") {
        $serial = read_file("$state/replay");
        unlink "$state/replay" or die "$state/replay: $!\n";
        $body = read_file("$state/$serial.html");
    } else {
        $serial = next_serial();
        $body   = page($serial);
        write_file("$state/$serial.html", $body);
        write_file("$state/$serial.sha256", sha256_hex($body));
        my $old = $serial - $pages_kept;
        unlink "$state/$old.html", "$state/$old.sha256" if $old > 0;
    }
    print "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-cache\r\nX-Demo-Serial: $serial\r\n\r\n$body";
}

main();
