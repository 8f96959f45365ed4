"""Statements of the user about their own work, as answers about the employer or the job: "I'm a nurse at X".

They share no word with "Where do I work?", while "I used to work at Y" and "I work out" do. English only;
`mnemic.language.comparison` reads statements in other languages.
"""

from __future__ import annotations

from enum import Enum

from mnemic.language.text.pattern import Pattern

READ = 300
"""Maximum number of characters of a statement that are parsed."""
_ROLE = (
    "accountant|actor|actress|actuary|administrator|advis[eo]r|analyst|anesthetist|animator|apprentice|archaeologist"
    "|architect|artist|assistant|astronomer|attorney|auditor|author|baker|banker|barber|barista|bartender|biologist"
    "|bookkeeper|bookseller|brewer|bricklayer|broker|builder|butcher|captain|caregiver|caretaker|carer|carpenter"
    "|cashier|chef|chemist|civil servant|cleaner|clerk|coach|composer|conductor|consultant|contractor|controller"
    "|cook|coordinator|copywriter|counsell?or|courier|curator|dancer|decorator|dentist|designer|detective|developer"
    "|dietitian|director|dispatcher|doctor|driver|economist|editor|electrician|engineer|estate agent|executive|farmer"
    "|firefighter|fisherman|florist|forester|founder|freelancer|gardener|geologist|goldsmith|hairdresser|handyman"
    "|housekeeper|illustrator|instructor|intern|interpreter|investigator|jeweller|joiner|journalist|judge|lab"
    "|labou?rer|lawyer|lecturer|librarian|lifeguard|linguist|locksmith|machinist|manager|marketer|mason|mathematician"
    "|mechanic|midwife|miner|musician|nanny|negotiator|nurse|nutritionist|officer|optician|optometrist|organist"
    "|painter|paralegal|paramedic|pastor|pharmacist|photographer|physicist|physician|physio|physiotherapist|pianist"
    "|pilot|planner|plasterer|plumber|policeman|policewoman|porter|postman|potter|priest|principal|producer|professor"
    "|programmer|proofreader|psychiatrist|psychologist|publisher|ranger|realtor|receptionist|recruiter|reporter"
    "|representative|researcher|roofer|sailor|salesman|salesperson|saleswoman|scientist|seamstress|secretary|sergeant"
    "|shopkeeper|social worker|soldier|solicitor|specialist|statistician|steward|stewardess|stylist|superintendent"
    "|supervisor|surgeon|surveyor|tailor|teacher|technician|teller|tester|therapist|trader|trainee|trainer|translator"
    "|tutor|underwriter|vet|veterinarian|videographer|waiter|waitress|warden|welder|worker|writer|zookeeper"
)
_BUSINESS = (
    "agency|bakery|bar|bookshop|bookstore|boutique|brewery|business|caf[eé]|clinic|company|farm|firm|gallery|garage"
    "|gym|hotel|kiosk|law firm|nursery|practice|pub|restaurant|salon|shop|school|start-?up|store|studio|workshop"
)
_AM = r"\bI(?:['’]m| am|['’]ve been| have been)"
_I = r"\bI(?:['’]m|['’]ve| am| have| was| got)?"
_NOW = Pattern(
    rf"{_AM} (?:\w+ly |now |just )?(?:a|an|the) (?:[\w-]+ ){{0,2}}(?:{_ROLE})\b"
    r"|\bI(?:['’]m| am)? (?:\w+ly |now |still )?(?:work|working) (?:at|for|as|in)\b"
    r"(?! the (?:garden|moment|same|morning))"
    rf"|{_I} (?:\w+ly |now |just |been )?(?:hired|employed|recruited|signed) (?:by|at|with|as)\b"
    rf"|{_I} (?:\w+ly |now |just )?(?:started|starting) (?:(?:my|a|the) (?:new )?job |work |working )?(?:at|with|as)\b"
    rf"|{_I} (?:\w+ly |just )?(?:took|accepted|got|landed|have) (?:a|the|my) (?:[\w-]+ ){{0,3}}(?:job|position|role)\b"
    r"|\b[Mm]y (?:(?:new|current) )?(?:employer|company|firm|job|profession|occupation|workplace|line of work)"
    r"(?:['’]s| is)\b"
    rf"|\bI (?:\w+ly |now )?(?:run|own|manage|opened|founded) (?:a|an|the|my) (?:[\w-]+ ){{0,3}}(?:{_BUSINESS})\b"
    r"|\bI (?:\w+ly |now )?(?:teach|lecture)\b.{1,60}\bat\b|\bI (?:\w+ly )?(?:freelance|practi[sc]e (?:law|medicine))\b"
    r"|\bI (?:\w+ly |now )?drive (?:a |an )?(?:\w+ )?(?:taxi|cab|lorry|truck|bus|tram|ambulance)\b(?! to\b)"
    r"|\bI(?:['’]m| am) on the (?:staff|payroll|faculty) (?:of|at)\b|\bI (?:just |recently )?joined (?:the )?[A-Z]"
)
_PLACED = Pattern(r"\bI(?:['’]m| am) (?:now |currently |still )?(?:at|with) (?:the )?[A-Z][\w&.-]+(?: [A-Z][\w&.-]+)*")
"""Matches "I'm with Deutsche Bank", which may also be a visit: it counts only without a plainer match."""
_OVER = Pattern(
    r"\bI used to (?:work|be|teach|run|own)\b|\bI (?:was|had been) (?:a|an|the) \w|\bI worked (?:at|for|as|in|with)\b"
    r"|\b(?:[Mm]y|a) (?:former|previous|old|last|ex-?) ?(?:job|employer|company|firm)\b"
    r"|\bI(?:['’]m| am) (?:a )?(?:former|retired)\b"
    r"|\bI (?:have )?(?:quit|left|resigned|retired|got fired|was fired|was laid off|lost my job)\b",
)


class Work(Enum):
    """State of the author's work, according to a statement."""

    HOLDS = "holds"
    MAY_HOLD = "may hold"
    IS_OVER = "is over"


def stated_work(text: str) -> Work | None:
    """Return the state of the author's work in `text`; None if it has none."""
    read = text[:READ]
    if _OVER.search(read):
        after = _OVER.sub(" ", read)
        return Work.HOLDS if _NOW.search(after) or _PLACED.search(after) else Work.IS_OVER
    if _NOW.search(read):
        return Work.HOLDS
    return Work.MAY_HOLD if _PLACED.search(read) else None
