"""Patterns of English statements of lasting facts about the speaker. Of the rules of one key the first match counts."""

from __future__ import annotations

from mnemic.language.sentences.tables import Rule, lower, pattern
from mnemic.language.sentences.tables.values import (
    CABINS,
    CHANNELS,
    DIETS,
    FLIGHT_TIMES,
    LANGUAGES,
    SEATS,
    STOPS,
    STYLES,
    TIERS,
    ZONE,
    choice,
    job,
    name,
    one_of,
    place,
    zone,
)

I_AM = r"\bi(?:'m| am)(?: (?:now|currently|still|actually))?"
AIM = (
    rf"{I_AM} (?:always |still )?trying to (?:always )?(?:keep|avoid|minimi[sz]e|maintain|limit|reduce|"
    r"cut (?:down|back)|stick (?:to|with)|stay)\b"
)
"""Words for an aim, also if a request mentions it in passing."""
_REPLIES = r"(?:replies|answers|responses|messages|updates|summaries|explanations|emails|it|things|everything)"
_DATE = (
    r"(?:on|by|before|next|this|until|in) (?:the )?(?:mon|tues|wednes|thurs|fri|satur|sun|jan|feb|mar|apr|may|jun|"
    r"jul|aug|sep|"
    r"oct|nov|dec|week|month|year|spring|summer|fall|autumn|winter|end of|\d{1,4})|\btomorrow\b|\btonight\b"
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_CALENDAR_DATE = rf"(?:(?:the )?{_DAY}(?: of)? {_MONTH}|{_MONTH}(?: the)? {_DAY})\b(?:,? \d{{4}}\b)?"
"""A day of the year, without the words after it."""
_STARTED_WORK = (
    r"(?:started|begun|began)(?: (?:on|last|this|in) (?:the )?\w+| today| yesterday| work(?:ing)?| (?:a|my) new job)? "
    r"(?:at|with|for) (?:the )?(?!(?:[\w&.'-]{1,25} ){0,3}(?:University|Uni|College|School|Academy|Gym|Club)\b)"
    r"(?![^.;!?]{0,80}\b(?:then|before|until|till|but|left|quit|moved)\b)"
)
"""Matches the start of a job with the employer after it, without a word for its end."""
_KIN = (
    r"(?:wife|husband|partner|fianc[ée]e?|girlfriend|boyfriend|spouse|mother|father|mom|mum|dad|parents|sister|"
    r"brother|son|"
    r"daughter|child|kids?|children|baby|twins|grandmother|grandfather|grandma|grandpa|grandson|granddaughter|"
    r"aunt|uncle|"
    r"cousin|niece|nephew|in-laws|roommate|flatmate|best friend|friend|boss|manager|colleague|teammate|assistant|"
    r"neighbou?r|"
    r"doctor|dentist|therapist|dog|puppy|cat|kitten|rabbit|horse|parrot|hamster|pet)s?"
)
_STATES = (
    r"(?:is|are|was|were|has|have|had|lives?|works?|loves?|likes?|hates?|named|called|turned|turns|moved|plays?|"
    r"stud\w{1,4}|"
    r"started|passed|died|got|just|prefers?|needs?|can't|doesn't|don't|goes|teaches|speaks?|comes?|runs?|made|"
    r"gave|taught)"
)

SERVICE = (
    Rule(
        pattern=pattern(rf"\b(?:write|reply|respond|answer|speak|talk)(?: to me|"
                        rf" back)?(?: only)? in (?P<v>{choice(LANGUAGES)})\b"),
        key="language", category="preference", confidence=0.95, spell=one_of(LANGUAGES),
    ),
    Rule(
        pattern=pattern(rf"\b(?:prefer|my preferred language is|default to)(?: to \w+ in)? (?P<v>{choice(LANGUAGES)})$|"
                        rf"\b{_REPLIES} in (?P<w>{choice(LANGUAGES)})\b"),
        key="language", category="preference", spell=one_of(LANGUAGES), lasting=False,
    ),
    Rule(
        pattern=pattern(rf"\b(?:keep|make|prefer|like|want|"
                        rf"give me)(?: \w+)?(?: \w+)? {_REPLIES} (?:to be )?(?:very |"
                        rf"really )?(?P<v>{choice(STYLES)})\b"),
        key="response_style", category="preference", spell=one_of(STYLES),
    ),
    Rule(
        pattern=pattern(rf"\b(?:prefer|like|want|give me|write|send)(?: me)? (?P<v>{choice(STYLES)})(?:,? \w+)? "
                        rf"(?:replies|answers|responses|messages|updates|summaries|explanations)\b"),
        key="response_style", category="preference", spell=one_of(STYLES),
    ),
    Rule(
        pattern=pattern(rf"\b(?:be|answer|reply|respond|write)(?: as)? (?P<v>{choice(STYLES)})(?:ly)?\b"),
        key="response_style", category="preference", confidence=0.8, spell=one_of(STYLES), lasting=True,
    ),
    Rule(
        pattern=pattern(rf"\b(?:use|prefer|choose) (?P<v>{choice(CHANNELS)}) (?:as|for|over|to reach|to contact)\b"),
        key="update_channel", category="preference", confidence=0.95, spell=one_of(CHANNELS),
    ),
    Rule(
        pattern=pattern(rf"\b(?:contact|reach|notify|update|ping|message|alert)(?: me| us)? (?:by|via|on|through|"
                        rf"over|with) "
                        rf"(?P<v>{choice(CHANNELS)})\b"),
        key="update_channel", category="preference", confidence=0.95, spell=one_of(CHANNELS),
    ),
    Rule(
        pattern=pattern(rf"\b(?:send|post|prefer|get|receive|want)(?: me| us| my| the|"
                        rf" all)* (?:status )?(?:updates|notifications|"
                        rf"alerts|messages|reminders) (?:by|via|on|through|over|to|in) (?P<v>{choice(CHANNELS)})\b"),
        key="update_channel", category="preference", confidence=0.95, spell=one_of(CHANNELS),
    ),
    Rule(
        pattern=pattern(rf"\b(?P<v>{choice(CHANNELS)}) is (?:my|the|our) (?:preferred|primary|main|default|best|"
                        rf"favou?rite) (?:channel|way)\b|"
                        rf"\bmy (?:preferred|primary|main|"
                        rf"default) (?:contact )?channel is (?P<w>{choice(CHANNELS)})\b"),
        key="update_channel", category="preference", confidence=0.95, spell=one_of(CHANNELS),
    ),
    Rule(
        pattern=pattern(rf"(?:{I_AM}|\bwe(?:'re| are)|\bi have|\bwe have)(?: on| in)?(?: an?| the|"
                        rf" your)? (?P<v>{choice(TIERS)})[\s-]"
                        r"(?:tier|plan|customer|user|account|subscriber|level|subscription|member|client)\b|"
                        rf"\b(?:my|our) (?:plan|tier|subscription|account)(?: level|"
                        rf" tier)? is (?P<w>{choice(TIERS)})\b"),
        key="declared_tier", category="identity", spell=one_of(TIERS),
    ),
    Rule(
        pattern=pattern(rf"(?:{I_AM}|\bwe(?:'re| are)|\btime\s?zone(?: is|:)?|\b(?:live|work|based|"
                        rf"located)) (?:in |on |at )?(?:the )?(?P<v>{ZONE})\b"
                        rf"|\buse (?:the )?(?P<w>{ZONE}) (?:time\s?zone|for (?:times|dates))\b|"
                        rf"\btimes in (?P<x>{ZONE})\b"),
        key="timezone", category="preference", confidence=0.95, spell=zone,
    ),
)  # fmt: skip

TRAVEL = (
    Rule(
        pattern=pattern(rf"\b(?P<v>{choice(FLIGHT_TIMES)}) (?:flight|departure)s?\b|"
                        rf"\bfly(?:ing)? (?:early )?in the (?P<w>{choice(FLIGHT_TIMES)})s?\b|"
                        rf"\bflights in the (?P<x>{choice(FLIGHT_TIMES)})\b"),
        key="flight_time", category="preference", spell=one_of(FLIGHT_TIMES), wish=True,
    ),
    Rule(
        pattern=pattern(rf"\b(?P<v>{choice(SEATS)})[\s-]seats?\b|\b(?:prefer|like|choose|take|book|want) (?:an? |"
                        rf"the )?(?P<w>aisle|window)\b|"
                        rf"\bseats? (?:by|near|at|on|in) the (?P<x>{choice(SEATS)})\b"),
        key="seat", category="preference", spell=one_of(SEATS), wish=True,
    ),
    Rule(
        pattern=pattern(rf"\b(?P<v>{choice(CABINS)})[\s-]class\b|\bfly(?:ing)? (?P<w>{choice(CABINS)})\b"),
        key="cabin", category="preference", spell=one_of(CABINS), wish=True,
    ),
    Rule(
        pattern=pattern(rf"\b(?P<v>{choice(STOPS)}) (?:flight|route|connection)s?\b"),
        key="stops", category="preference", spell=one_of(STOPS), wish=True,
    ),
    Rule(
        pattern=pattern(r"\b(?:fly|flying)(?: with| on)? (?P<v>[A-Z][\w&]{1,20}(?: [A-Z][\w&]{1,20}){0,2})\b|"
                        r"\b(?:[Mm]y )?(?:preferred|favou?rite|usual) airline is (?P<w>[A-Z][\w& ]{1,30})", case=True),
        key="airline", category="preference", wish=True,
    ),
    Rule(
        pattern=pattern(r"\b(?:prefer|like|love|choose|book|want) (?:to stay (?:in|"
                        r"at) )?(?P<v>(?:[\w-]{2,20} ){1,3})hotels?\b|"
                        r"\bhotels? (?P<w>(?:with|near|close to|in|by|that (?:is|are|has|have|allows?|serves?|offers?"
                        r"|takes?|accepts?)) [^,.;]{2,60})"),
        key="hotel", category="preference", spell=lower, wish=True,
    ),
    Rule(
        pattern=pattern(r"\b(?P<v>quiet|high-floor|non-smoking|smoking|double|twin|single|king|queen|family) rooms?\b"),
        key="room", category="preference", spell=lower, wish=True,
    ),
    Rule(
        pattern=pattern(r"\bmy (?:home|usual|nearest|local) airport is (?P<v>[\w ]{2,40})"),
        key="home_airport", category="identity",
    ),
)  # fmt: skip

IDENTITY = (
    Rule(
        pattern=pattern(rf"(?:{I_AM}(?! (?:an? |also |type \w+ )*diabetic\b)|\bi've been|\bi eat|\bi follow|"
                        rf"\bi keep|\bi need|\bmy diet is|"
                        rf"\bi only eat)(?: on| now)?(?: an?| strictly| strict| a strict| mostly)? "
                        rf"(?P<v>{choice(DIETS)})\b"),
        key="diet", category="preference", confidence=0.95, spell=one_of(DIETS),
    ),
    Rule(
        pattern=pattern(rf"(?:{I_AM}|\bi'?m)(?: (?:very|severely|highly|also|"
                        rf"deathly))? allergic to (?P<v>[^.;!?]{{2,80}})|"
                        r"\bi have an? (?:severe )?(?P<w>\w{3,20}) allergy\b|\bmy allerg(?:y|ies)(?: is| are|"
                        r":) (?P<x>[^.;!?]{2,80})"),
        key="allergies", category="preference", confidence=0.95, many=True,
    ),
    Rule(
        pattern=pattern(rf"(?:{I_AM}|\bi use) (?:an? )?(?P<v>wheelchair(?: user)?|blind|deaf|hard of hearing|"
                        rf"colou?r-?\s?blind|dyslexic|visually impaired|"
                        r"screen reader|hearing aids?)\b"),
        key="accessibility", category="preference", confidence=0.95, spell=lower, many=True,
    ),
    Rule(
        pattern=pattern(r"\b(?:[Mm]y (?:full |first )?name is|[Mm]y name's|I am called|"
                        r"I'm called) (?P<v>[^\W\d_][\w'-]{0,24}(?: [A-Z][\w'-]{1,24}){0,3})", case=True),
        key="name", category="identity", confidence=0.95, spell=name,
    ),
    Rule(
        pattern=pattern(r"(?:\b(?:I'm|I am)|^\W{0,3}(?:[Hh]i|[Hh]ello|[Hh]ey)(?: there)?,? [Tt]his is) "
                        r"(?P<v>[A-Z][a-zà-ÿ'-]{1,20}(?: [A-Z][a-zà-ÿ'-]{1,20}){0,2})[.!]?$", case=True),
        key="name", category="identity", confidence=0.8, spell=name,
    ),
    Rule(
        pattern=pattern(r"\bcall me (?P<v>(?!a |an |when|back|later|at |on |by |if |tomorrow|today|soon|crazy|"
                        r"maybe)[\w'-]{2,24})[.!]?$"),
        key="preferred_name", category="identity",
    ),
    Rule(
        pattern=pattern(r"\bmy pronouns are (?P<v>\w{2,6}(?:\s?/\s?\w{2,6}){1,2})"),
        key="pronouns", category="identity", spell=lower,
    ),
    Rule(
        pattern=pattern(r"\bmy birthday(?: is|'s)(?: on)? (?P<v>" + _CALENDAR_DATE +
                        r"|[\w ,/-]{3,30})(?:[,;:]? (?:so |please )?save the date)?|\bi was born (?:on|"
                        r"in) (?P<w>[\w ,/-]{0,20}\d[\w ,/-]{0,12})"),
        key="birthday", category="identity",
    ),
    Rule(
        pattern=pattern(rf"{I_AM} (?P<v>\d{{1,3}})(?: years old| y/o| yo\b|[.!]?$)"),
        key="age", category="identity", confidence=0.85,
    ),
    Rule(
        pattern=pattern(r"\b(?:[Ii] (?:currently |now )?live in|[Ww]e live in|[Ii]'m based in|[Ii] am based in|"
                        r"[Mm]y home ?town is|[Mm]y home is in|"
                        r"(?:[Ii]|[Ww]e)(?:'ve| have)? (?:just |recently |finally )?(?:moved|"
                        r"relocated) (?:back |over |up |down |out )?to) "
                        r"(?P<v>[^\W\d_](?:[^.;!?\n]|(?<=\b[Ss]t)\.(?= [A-Z])"
                        r"|\.(?=[a-z]{2})){1,40})", case=True),
        key="home_city", category="identity", spell=place,
    ),
    Rule(
        pattern=pattern(r"\b(?:I|I've been|We) (?:currently |now )?(?:work|working) (?:for|at|"
                        r"with) (?:the )?(?P<v>[A-Z][\w&.'-]{0,24}"
                        r"(?: (?:[A-Z&][\w&.'-]{0,24}|(?:of|and)(?= [A-Z&]))){0,4})|"
                        r"\b[Mm]y (?:employer|company) is (?P<w>[A-Z][\w&.' -]{1,40})|\b(?:I'm|I am) (?!\w+ing\b|not\b|"
                        r"[\w -]{0,40}\b(?:(?:good|great|bad|terrible|excellent|decent|hopeless|rubbish|brilliant"
                        r"|better|worse|best|"
                        r"worst|skilled|amazing|awful|ok|okay|pro|expert|quick|slow) (?=at )|to|student|pupil"
                        r"|freshm[ae]n|sophomore|job|position|interview|meeting|"
                        r"party|conference)\b)(?:an? |"
                        r"the )?[\w -]{3,40} at (?:the )?(?P<x>[A-Z][\w&.'-]{1,24}(?: [A-Z][\w&.'-]{0,24}){0,3})|"
                        rf"\b(?:[Ii]|[Ww]e)(?:'ve| have)?(?: just| recently| finally)? {_STARTED_WORK}"
                        r"(?P<y>[A-Z][\w&.'-]{0,24}(?: (?!\w{3,6}day\b)[A-Z&][\w&.'-]{0,24}){0,3})", case=True),
        key="employer", category="identity",
    ),
    Rule(
        pattern=pattern(r"\bi (?:currently |now )?work as (?:an? |the )?(?P<v>[\w' -]{3,40}?)(?= (?:at|for|in|"
                        r"with|and|on)\b|[.,;!]|$)|"
                        r"\bmy (?:job|profession|occupation|job title) is (?:an? )?(?P<w>[\w' -]{3,40})|\bi(?:'m|"
                        r" am)? work(?:ing)? (?:at|for|with) [\w&.' -]{2,40}? as (?:an? |the )?(?P<y>[\w' -]{3,40})|"
                        r"\bi (?:teach|practice|practise) (?P<x>law|medicine|yoga)\b"),
        key="job", category="identity", spell=lower,
    ),
    Rule(
        pattern=pattern(rf"{I_AM} (?:an?|the) (?P<v>[\w' -]{{3,40}}?)(?= (?:at|for|in|with|from|and|who|by|on|"
                        rf"based|living)\b|[.,;!]|$)"),
        key="job", category="identity", confidence=0.85, spell=lambda value: (found := job(value)) and found.lower(),
    ),
    Rule(
        pattern=pattern(rf"\bi (?:can |also )?speak (?:fluent |some |a little |"
                        rf"native )?(?P<v>{choice(LANGUAGES)}[^.;!?]{{0,50}})|\bmy (?:native|"
                        rf"first) language is (?P<w>{choice(LANGUAGES)})|"
                        rf"{I_AM} (?:learning|studying) (?P<x>{choice(LANGUAGES)})\b"),
        key="languages_spoken", category="identity", many=True,
    ),
)  # fmt: skip

FREE = (
    Rule(pattern=pattern(r"(?:(?:^|[,;:] ?|\b(?:please|also|and|but|should|must|you to) )(?:always|never)(?! an?\b)|"
                         r"\bfrom now on|\bgoing forward|\bplease don't ever|\bdon't ever|"
                         r"\bmake sure (?:to|you) always|"
                         r"\bby default|\bevery time you|\bwhenever you|\bwhenever i ask)\b.{0,20}\b(?:you|me|my|use|"
                         r"write|send|reply|answer|"
                         r"include|call|ask|add|show|start|format|put|keep|book|mention|check|confirm|give|avoid|"
                         r"respond|cc|sign|cite)\b"),
         category="instruction", confidence=0.85),
    Rule(pattern=pattern(r"^(?:please )?(?:always|never) (?!mind\b|been\b|had\b|an?\b|the\b|in\b|on\b|at\b|again\b|"
                         r"ever\b|so\b|too\b|be(?:en|fore)\b|\w+(?:ed|ing)\b)[a-z]{2,20} \w"),
         category="instruction", confidence=0.8),
    Rule(pattern=pattern(r"\bmy (?:\w{4,12} )?preference (?:is|for|to)\b"), category="preference", confidence=0.8),
    Rule(pattern=pattern(AIM), category="preference", confidence=0.7),
    Rule(pattern=pattern(r"\b(?:i|we)(?:'ve| have|'ll| will)? (?:really |absolutely |also |always |still |"
                         r"strongly |particularly |especially )?"
                         r"(?:like|love|enjoy|adore|prefer|hate|dislike|loathe|avoid|detest|favou?r|can't stand|"
                         r"cannot stand|"
                         r"don't (?:really )?(?:like|eat|drink|enjoy|smoke|use|want|do)|do not (?:like|eat|drink|"
                         r"want)|never (?:eat|drink|liked))\b"),
         category="preference", confidence=0.85),
    Rule(pattern=pattern(rf"{I_AM} (?:really |a (?:huge |big )?|an? |very |so |terribly |"
                         rf"not )?(?:\w{{2,12}} )?(?:into|fond of|a fan of|fan of|keen on|passionate about|"
                         r"obsessed with|addicted to|afraid of|scared of|terrified of|allergic|intolerant|"
                         r"interested in|fan|lover|person)\b|"
                         r"\bmy (?:absolute |all-time )?favou?rite\b|\bi(?:'d| would) rather\b"),
         category="preference", confidence=0.85),
    Rule(pattern=pattern(r"\b[\w'-]{2,24}(?: [\w'-]{2,24})? (?:strongly |really |usually |also )?(?:prefers|hates|"
                         r"loves|dislikes|would rather)\b"),
         category="preference", confidence=0.75),
    Rule(pattern=pattern(rf"\b(?:my|"
                         rf"our) (?:\w{{2,12}} ){{0,2}}{_KIN}(?:'s)?(?: [\w'-]{{1,20}}){{0,3}}? {_STATES}\b|"
                         rf"\b(?:my|our) {_KIN}'s name\b|\bi have (?:an?|two|three|four|five|"
                         rf"\d) (?:\w{{2,12}} ){{0,2}}{_KIN}\b|"
                         rf"{I_AM} (?:married|engaged|divorced|single|widowed|expecting|pregnant|"
                         rf"an? (?:\w+ )?(?:mother|father|mom|dad|parent|widow|widower|twin))\b|"
                         r"\bwe have (?:an?|two|three|four|\d) (?:kids|children|dogs?|cats?|sons?|daughters?)\b"),
         category="relation", confidence=0.85),
    Rule(pattern=pattern(r"\b(?:i|we)(?:'ve| have)? (?:finally |both |all )?(?:decided|agreed|chose|chosen|"
                         r"settled on|opted|switched to|signed off on)\b|"
                         r"^(?:user |we )?(?:decided|agreed|chose) (?:on|to|that)\b|"
                         r"\bdecision(?: made)?(?: on [\w ]{2,40})?:|\bwe talked about it and agreed\b|"
                         r"\b\w{2,20} decided to\b"),
         category="decision", confidence=0.8),
    Rule(pattern=pattern(rf"\b(?:i|we)(?:'ll| will| shall) .{{2,80}}(?:{_DATE})|\b(?:i|we)(?:'m| am|'re| are|"
                         rf" have|'ve)? (?:committing|committed|promised|promising|vowed)\b|"
                         r"^(?:promised|committed)\b|\b[A-Za-z]{2,20} (?:committed|promised) to\b"),
         category="commitment", confidence=0.8),
    Rule(pattern=pattern(rf"\b(?:i|we)(?:'m| am|'re| are) (?:\w{{2,12}}ing)\b.{{0,80}}(?:{_DATE})|\b(?:i|we)(?:'m|"
                         rf" am|'re| are) (?:moving|getting married|"
                         r"graduating|retiring|expecting|starting|planning|training for|preparing for|saving|"
                         r"studying for|applying)\b|"
                         rf"\b(?:i|we) have (?:an?|my|our) [\w ]{{3,40}}(?:{_DATE})|\bmy [\w ]{{3,40}} (?:is|are|"
                         rf"starts|begins|takes place) (?:{_DATE})|"
                         rf"\b(?:i|we)(?:'ve| have)? (?:just |recently |already )?(?:booked|scheduled|planned|"
                         rf"signed up)\b"),
         category="event", confidence=0.8),
    Rule(pattern=pattern(r"\b(?:i|we)(?:'ve| have)? (?:just |recently |finally |once |also |already )?(?:adopted|"
                         r"bought|sold|moved|visited|graduated|started|quit|joined|"
                         r"got married|got engaged|got divorced|got promoted|became|met|broke|lost|won|finished|"
                         r"completed|ran|travel?led|went to|attended|"
                         r"built|founded|published|retired|renovated|was diagnosed|were diagnosed|was born|"
                         r"had a baby|gave birth|switched|hired)\b"),
         category="event", confidence=0.75),
    Rule(pattern=pattern(r"\b(?:i|we) (?:usually|always|never|often|rarely|normally|typically|tend to|"
                         r"generally)\b|\bi (?:\w{2,15} ){1,8}"
                         r"(?:every|each|on) (?:day|week|month|year|morning|night|evening|weekend|(?:mon|tues|"
                         r"wednes|thurs|fri|satur|sun)days?)\b|"
                         r"\b(?:twice|once|three times|\d times) (?:a|per) (?:day|week|month|year)\b|"
                         r"\bi've been \w{2,15}ing\b|\bi used to\b"),
         category="habit", confidence=0.8),
    Rule(pattern=pattern(r"\bi (?:can |also )?speak\b|\bi (?:own|drive|play|collect|volunteer|teach|study|studied|"
                         r"grew up|graduated|have (?:been|lived|worked)|come from|"
                         r"was born|was raised|live|work|run a|manage|coach|suffer from|take medication|wear)\b|"
                         rf"{I_AM} (?:from|originally from|an? (?:\w{{2,15}} )?(?:student|citizen|veteran|"
                         rf"immigrant|native)|diabetic|left-handed|retired|self-employed|unemployed|"
                         r"bilingual|an introvert|an extrovert|the (?:owner|founder|ceo|head|director))\b|"
                         r"\bi have (?:an?|type|asthma|diabetes|chronic|celiac|adhd|high blood)\b"),
         category="identity", confidence=0.8),
    Rule(pattern=pattern(r"\b(?:quick |two |one )?facts?(?: \w+){0,3}:|\bfor the record\b|\bnote that\b|"
                         r"\bkeep in mind\b|\bfyi\b|\bconfirmed\b|\bremember (?:that|this|:)|"
                         r"\b(?:deadline|due date|budget|address|password hint|account manager|birthday|"
                         r"anniversary) (?:is|are|was)\b|"
                         rf"\b(?:emerged|started|opens|closes|launches|ships|expires|renews|ends|begins) (?:{_DATE})"),
         category="fact", confidence=0.8),
    Rule(pattern=pattern(r"\b(?:i|we) (?:honestly |really |still |personally |truly )?(?:think|believe|find|feel|"
                         r"suspect|doubt|consider)\b|\bmy (?:take|view|opinion|read|sense)\b|"
                         r"\bin my (?:opinion|view|experience)\b|\bi'm (?:convinced|sceptical|skeptical)\b"),
         category="opinion", confidence=0.6),
)  # fmt: skip

FAVOURITE = pattern(
    r"\bmy (?:absolute |all-time )?favou?rite (?P<k>[a-z]{3,15}(?: [a-z]{3,15})?) (?:is|are|"
    r"has always been) (?P<v>[^.;!?]{2,80})"
)
"""Matches a favourite, which names its own key: `favorite_color`."""

RULES = (*SERVICE, *TRAVEL, *IDENTITY)
