"""Tables of wordings of speakers' wants and dislikes, whatever their object, for `likings`.

`OPENINGS` end before the liked thing ("I can't get into"); `FRAMES` are the words before it and after it ("I need ...
to concentrate"); `VERDICTS` follow it ("... bore me"); `WHOLE` have no slot for a thing.
"""

from __future__ import annotations

MUCH = (
    r"(?:(?:really|very|quite|rather|so|too|extremely|incredibly|absolutely|deeply|strongly|strictly|firmly|easily"
    r"|often|always|particularly|especially|generally|usually|typically|personally|honestly|simply|just|truly|a bit"
    r"|a little|somewhat|completely|totally|utterly|highly|pretty|definitely|still|also|actually|naturally|do"
    r"|deliberately|tend to|try to|would) ){0,3}"
)
_STATES = (
    r"(?:put off by|turned off by|repelled by|disgusted by|bothered by|annoyed by|irritated by|bored by|intimidated by"
    r"|overwhelmed by|drawn to(?:wards)?|averse to|opposed to|against|wary of|s[ck]eptical of|suspicious of"
    r"|distrustful of|afraid of|scared of|terrified of|frightened of|apprehensive about|nervous around|anxious around"
    r"|uneasy (?:about|around|with)|hesitant about|uncomfortable (?:with|in|around)|adamant about|particular about"
    r"|picky about|fussy about|strict about|devoted to|passionate about|enthusiastic about|partial to|fond of|keen on"
    r"|big on|sensitive to|unable to (?:tolerate|stand|bear|enjoy)|committed to|dedicated to)"
)
_NOUNS = (
    r"(?:aversion to|dislike (?:of|for)|distaste for|hatred (?:of|for)|disdain for|contempt for"
    r"|intolerance (?:of|for|to)|tolerance (?:of|for)|sensitivity to|phobia (?:of|about)|fear of|mis?trust of"
    r"|distrust of|objections? to|reservations about|preference (?:for|against)|passion for|love (?:of|for)"
    r"|fondness for|affinity (?:for|with|to)|liking for|taste for|weakness for|interest in|enthusiasm for"
    r"|patience (?:for|with)|appetite for|stomach for|rules? (?:against|about)|policy (?:against|of))"
)
_UPSET = (
    r"(?:bored|anxious|stressed|restless|overwhelmed|irritable|irritated|tired|drained|exhausted|trapped|guilty"
    r"|uncomfortable|uneasy|dizzy|nauseous|claustrophobic|frustrated|distracted|nervous|tense|intimidated"
    r"|self-conscious|ill at ease)"
)
OPENINGS = (
    rf"i(?:'m| am|'ve (?:always |never )?been| have (?:always |never )?been) (?:not |never )?{MUCH}{_STATES}",
    r"i(?:'m| am) (?:not|never) (?:really |very |at all )?comfortable (?:with|in|around|at|\w+ing)",
    r"i(?:'m| am) (?:all (?:for|about)|an? (?:firm|strong|big|great) believer in|always on the lookout for)",
    r"i(?:'m| am) (?:happier|better off) (?:with|without|when i)",
    (
        r"i(?:'ve| have) (?:got |developed |always had |never had |had )?(?:an? |my |any |no |zero |little "
        r"|very little )?"
        rf"(?:[\w-]+ ){{0,2}}?{_NOUNS}"
    ),
    (
        r"i(?:'ve| have) (?:always had |often had )?(?:an? |some |great )?(?:(?:real|big|serious|hard) )?"
        r"(?:problems? with|trouble with|difficulty with|difficulties with|time with|issues? with)(?! (?:the|an?)\b)"
    ),
    (
        r"i(?:'ve| have) (?:sworn off|given up on|come to (?:dislike|hate|love|enjoy|avoid)"
        r"|grown to (?:dislike|hate|love"
        r"|enjoy)|never (?:liked|enjoyed|cared for|warmed to)|always (?:liked|loved|hated|disliked|avoided|enjoyed"
        r"|been drawn to)|(?:come|grown|learned|learnt) to (?:prefer|value|appreciate|rely on)|stopped (?:buying|eating"
        r"|using|wearing|drinking|watching)(?: anything but)?|switched entirely to|committed to)"
    ),
    (
        r"i (?:can't|cannot|can not|could never) (?:really |ever |quite )?(?:get into|deal with|cope with|get used to"
        r"|put up with|concentrate with|focus with|relax (?:with|in|around)|stomach|handle|be (?:near|around)"
        r"|(?:do|live|work|function|enjoy \w+|sleep|concentrate|relax) without)"
    ),
    (
        r"i (?:don't|do not|never) (?:really |particularly |much |at all )?(?:trust|support|believe in|respond well to"
        r"|do well (?:with|in)|get along with|see the (?:point|appeal) (?:of|in)|feel comfortable|care for|approve of"
        r"|tolerate|enjoy|like|buy)"
    ),
    (
        rf"i {MUCH}(?:dread|resent|loathe|abhor|detest|despise|favou?r|gravitate towards?"
        rf"|lean (?:more )?towards?|swear by"
        r"|opt for|shy away from|keep away from|stay away from|make a point of|draw the line at|boycott|object to"
        r"|seek out|value|cherish|require|rely on|depend on|count on|believe in|feel strongly about|tire of"
        r"|care (?:deeply |a lot |strongly )?about|place (?:an? )?(?:high |great )?(?:value|importance|emphasis) on"
        r"|attach great importance to|set great store by|(?:limit|restrict|confine) myself to|tire (?:quickly"
        r"|easily) of"
        r"|spend (?:most of )?my (?:free|spare) time)"
    ),
    r"i(?:'d| would) never (?:choose|go for|buy|eat|drink|wear|use|watch|read|visit|stay (?:in|at)|consider)",
    r"i(?:'d| would) (?:much rather|rather|sooner) have",
    r"i (?:will not|won't|will never) (?:consider|touch|accept|support|go near)",
    (
        r"i (?:always|typically|usually|generally|mostly|deliberately|strictly|try to|tend to) (?:skip|reject"
        r"|choose|pick"
        r"|limit|prioriti[sz]e|decline|go with|stick with|prefer)"
    ),
    r"i (?:exclusively|solely|strictly) \w+",
    r"i \w{3,12} (?:only|exclusively|solely)(?: to| on)?",
    r"i make sure (?:to|that i|i) (?:choose|pick|buy|get|have|use|eat|wear)",
    (
        r"i (?:do my best work|work best|function (?:better|best)|learn (?:best|better)|study best|think best"
        r"|perform (?:best|better|poorly)|sleep (?:best|better|badly)|feel (?:best|happiest|most \w+(?: \w+)?|at home"
        r"|lost|uncomfortable)) (?:with|without|when i|when|in|through|by|around|on|if i)"
    ),
    (
        rf"i (?:get|become|grow) (?:very |so |easily |really |quickly )?{_UPSET} (?:\w+ly )?"
        r"(?:with|by|in|about|of|around|after|on|from|at|if i)(?! the\b)"
    ),
    rf"i feel (?:very |so |easily |really )?{_UPSET} (?:in|around|after|by|without|at|about \w+ing)(?! the\b)",
    r"i (?:quickly |easily )?lose (?:interest|focus|concentration|patience) (?:in|with|during)(?! the\b)",
    r"i get more out of",
    r"i (?:often |always |usually )?find myself (?:annoyed|bored|irritated|drawn|overwhelmed|distracted) (?:by|to)",
    (
        r"as (?:someone|a person) who (?:really |strongly |also )?(?:hates|dislikes|loves|likes|enjoys|avoids|dreads"
        r"|can't stand|cannot stand|doesn't (?:like|enjoy)|does not (?:like|enjoy)|struggles with)"
    ),
    r"nothing (?:beats|(?:puts me off|annoys me|bores me) more than)",
    r"my (?:\w+ )?preference is(?: for| to)?",
    r"what matters (?:most |a lot )?to me is",
)
_BAD = (
    r"off-?putting|unappealing|unpleasant|unbearable|intolerable|insufferable|irritating|annoying|frustrating"
    r"|infuriating|exasperating|grating|draining|exhausting|tiring|tedious|boring|dull|bland|monotonous|repetitive"
    r"|pointless|impractical|inconvenient|cumbersome|restrictive|limiting|confining|claustrophobic|overwhelming"
    r"|overstimulating|stressful|nerve-w?racking|intimidating|scary|frightening|terrifying|creepy|unsettling"
    r"|disturbing|distressing|depressing|distasteful|repulsive|revolting|disgusting|gross|repugnant|nauseating"
    r"|offensive|tacky|cheesy|gaudy|garish|pretentious|shallow|superficial|artificial|impersonal|sterile|stuffy|noisy"
    r"|cramped|uncomfortable|painful|itchy|scratchy|greasy|complicated|confusing|disorienting|distracting|disruptive"
    r"|invasive|intrusive|unsafe|unethical|cruel|wasteful|overpriced|overrated|unengaging|uninteresting|uninspiring"
    r"|unfulfilling|unsatisfying|unrewarding|hard to|difficult to|impossible to|challenging"
    r"|a (?:[\w-]+ )?(?:turn-?off|waste|chore|nuisance|hassle|distraction|bore)|(?:too|overly) \w+"
)
_GOOD = (
    r"relaxing|soothing|calming|comforting|enjoyable|delightful|appealing|attractive|inspiring|motivating"
    r"|energi[sz]ing|invigorating|rewarding|fulfilling|satisfying|fascinating|engaging|stimulating|irresistible"
)
FRAMES = (
    (
        rf"(?:i {MUCH}(?:find|consider)|i(?:'ve| have) (?:always |long )?(?:found|considered))",
        rf"(?:to be |is |are )?{MUCH}(?:{_BAD}|{_GOOD})\b",
    ),
    (
        r"i (?:don't|do not) (?:really |particularly )?find",
        rf"(?:to be )?{MUCH}(?:{_GOOD}|fun|interesting)\b",
    ),
    (r"i find that", r"(?:works?|suits?|helps?) (?:\w+ )?(?:for )?me\b"),
    (
        r"i (?:really |absolutely )?need(?! help\b)",
        (
            r"(?:in order )?to (?:feel|concentrate|focus|function|work|relax|sleep|enjoy|be|stay|learn|thrive"
            r"|think|unwind"
            r"|perform)\b"
        ),
    ),
    (r"i(?:'d| would) (?:always )?(?:choose|take|pick|go for|have)", r"(?:over|any day|rather than)\b"),
    (r"(?:i like|i enjoy)", r"(?:better|more) than\b"),
    (r"(?:give me|i(?:'ll| will) take)", r"any (?:day|time)\b"),
    (
        r"i(?:'ve| have) (?:switched|gone|converted|moved) (?:entirely |completely |over |fully )?to",
        r"(?:for good|only|alone)\b",
    ),
    (r"i(?:'ve| have) made", r"an? (?:habit|rule)\b"),
    (
        rf"i {MUCH}(?:look for|skip|reject|choose|pick|limit|prioriti[sz]e|decline)",
        r"(?:above all|over everything|when(?:ever| \w+ing| i)|every time|each time|wherever|at all costs)\b",
    ),
)
VERDICTS = (
    (
        r"(?:bores?|annoys?|irritates?|frustrates?|disgusts?|repulses?|exhausts?|drains?|overwhelms?|bothers?|scares?)"
        r" me\b"
    ),
    r"(?:stress(?:es)?|wears?|tires?|gross(?:es)?|freaks?|creeps?) me out\b",
    r"(?:turns?|puts?) me off\b",
    r"drives? me (?:crazy|mad|nuts|insane|up the wall)\b",
    r"gets? on my nerves\b",
    r"leaves? me cold\b",
    r"makes? me (?:miserable|uncomfortable|uneasy|sick|nauseous|claustrophobic|cringe|unhappy|tense|feel \w+)\b",
    r"gives? me (?:anxiety|headaches?|a headache|migraines?|heartburn|the creeps|nightmares)\b",
    (
        r"(?:don't|do not|doesn't|does not) (?:really |quite )?(?:appeal to|agree with|work for|do it for|interest|suit"
        r"|excite) me\b(?! on\b)"
    ),
    r"do(?:es)? nothing for me\b",
    r"ha(?:s|ve) never (?:appealed to|interested) me\b",
    (
        r"(?:is|are)(?:n't| not)? (?:really |simply |definitely |absolutely |just |a bit |a little )?"
        r"(?:(?:an? (?:\w+ )?(?:deal-?breaker|must|no-go|turn-?off|nightmare)|out of the question|off the table"
        r"|too \w+|hard|difficult|uncomfortable|stressful|overwhelming) for me\b|my (?:style|thing|cup of tea)\b"
        r"|something i (?:really |always |truly )?(?:avoid|hate|enjoy|don't enjoy|dislike|can't stand|love|dread)\b)"
    ),
    (
        r"(?:is|are) (?:really |very |so |absolutely )?(?:important|essential|crucial|a priority|non-?negotiable)"
        r" (?:to|for) me\b"
    ),
    r"matters? (?:a lot |greatly |more )?to me\b",
    r"(?:suits?|fits?|works? for) me (?:best|better)\b",
    r"works? (?:best|better) for me\b",
    (
        r"(?:is|are) (?:much |far )?(?:better for me than|what i (?:look for|prefer|like)"
        r"|(?:always )?my (?:first choice"
        r"|preference|go-to)|the best (?:fit|choice|option) for me)\b"
    ),
)
WHOLE = (
    r"it(?:'s| is) (?:really |very |so )?(?:important|crucial|essential|vital) (?:to|for) me (?:that i|to) \w",
    r"it matters (?:a lot )?to me (?:that i|to) \w",
)
