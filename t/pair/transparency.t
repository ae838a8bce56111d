# Transparency, measured: hundreds of generated cases, fetched directly, through plain proxies and through the pair,
# differ in nothing but what docs/transparency.md lists.
use strict;
use warnings;

use CRCSync::Test;
use CRCSync::Transparency;

CRCSync::Transparency::run();
done_testing;
