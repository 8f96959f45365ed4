"""Words that announce a telephone number, a password or a code, in other languages than English.

Spanish, Portuguese, French, German, Italian, Dutch, Polish, Russian, Turkish, Arabic, Hindi, Chinese, Japanese, Korean
and Thai. People leave accents out, so that both spellings are here. Each word is an expression in lower case that
begins with a letter or a class of letters; `~` is a blank. Those of scripts without spaces (`joined`) may occur
anywhere.
"""

from __future__ import annotations

from mnemic.redact.multilingual import Spoken

_NEW = "(?:~(?:nuevo|nueva|novo|nova|nouveau|neue|nuovo|nieuwe|nowy|новый|नया))?"
_OWN = " ".join(
    f"{mine}{_NEW}~{number}"
    for owners, number in (
        ("mi su tu nuestro vuestro meu seu teu nosso", "n[uú]mero"),
        ("mon son ton notre votre leur", "num[eé]ro"),
        ("mio suo tuo nostro vostro", "numero"),
        ("meine deine seine ihre unsere eure mijn jouw zijn haar onze uw", "nummer"),
        ("m[oó]j tw[oó]j jego jej nasz", "numer"),
        ("мой твой его е[её] наш ваш", "номер"),
        ("मेरा उसका आपका हमारा", "नंबर"),
    )
    for mine in owners.split()
)

TELEPHONES = Spoken(
    "tel[eé]fonos? tel[eé]f tlf tfno tfn m[oó]vil(?:es)? celular(?:es)? wasap telefones? telem[oó]vel fone zap",
    "t[eé]l[eé]phone t[eé]l portable handynummer mobil(?:nummer|telefon) rufnummer festnetz(?:nummer)? durchwahl",
    "telefon(?:nummer|isch|on|u|em|ie|um|unuz|umuz)? cellulare telefono recapito telefoon(?:nummer)? mobiel(?:e)? gsm",
    "kom[oó]r(?:k[aięe]|kowy) телефон(?:а|у|ом|е|ы)? мобильн(?:ый|ого|ом|ая) сотов(?:ый|ого|ом) тел cep",
    "هاتف(?:ي|ه|ها|ك)? الهاتف جوال(?:ي|ه|ها|ك)? الجوال موبايل(?:ي|ه|ها|ك)? الموبايل تلفون تليفون",
    "फ़ोन फोन मोबाइल टेलीफोन",
    joined="电话(?:号码?)? 電話(?:號碼?|番号)? 手机(?:号码?)? 手機(?:號碼?)? 座机 携帯(?:電話)?(?:番号)? ケータイ"
    " 전화(?:번호)? 휴대폰 휴대전화 핸드폰 โทร(?:ศัพท์)? เบอร์ มือถือ",
)
"""Words for a telephone and its number."""
CALLS = Spoken(
    "ll[aá]m(?:a|ame|ar|arme|arle|arnos|adme|enme|eme) marca(?:r|me)? cont[aá]ct(?:ame|arme|anos|o) localizarme",
    "lig(?:a|ar|ue|uem|ame|ue-me) contato contate contactar contatar joi(?:ndre|gnable)",
    "appel(?:le|ez|er)(?:-(?:moi|nous|le|la))?",
    "ruf rufen anrufen erreich(?:bar|en|st|t) chiam(?:a|are|ami|atemi|arlo|arla|arci) contatt(?:a|ami|are|o)",
    "bel bellen bereikbaar bereiken zadzwo[nń](?:cie)? dzwo[nń](?:cie|i[cć])? позвон(?:и|ите|ить) звон(?:и|ите|ить)",
    "rappel(?:le|ez|er)(?:-(?:moi|nous))? набер(?:и|ите) ara aray[ıi]n arayabilirsin(?:iz)?",
    "numara(?:m|mız) اتصل اتصلي اتصلوا كلمني رقم(?:ي|ه|ها|ك) कॉल संपर्क",
    _OWN,
    joined="打[给給] 打電話 打电话 致[电電] 拨 联系方式 [我你他她您]们?的新?(?:号码|號碼)"
    " 連絡先 [私僕俺彼](?:女)?の番号 [제내]~?번호 저희~?번호 우리~?번호 그의~?번호 그녀의~?번호 연락",
)
"""Words for calling somebody, and for the owner of a number."""
OTHER_NUMBERS = Spoken(
    "pedido factura cuenta tarjeta referencia reserva expediente p[oó]liza c[oó]digo contrato seguimiento serie",
    "z[aä]hler",
    "albar[aá]n art[ií]culo env[ií]o localizador matr[ií]cula fatura conta(?!ct) cart[aã]o refer[eê]ncia processo",
    "ap[oó]lice rastreio protocolo commande compte carte r[eé]f[eé]rence r[eé]servation dossier contrat suivi s[eé]rie",
    "colis bestell rechnung konto kart referenz buchung auftrag vertrag kunden sendung artikel aktenzeichen vorgang",
    "polic[ey] ordine fattura conto riferimento prenotazione pratica polizza codice contratto spedizione bestel",
    "factuur rekening klant referentie boeking polis zending zam[oó]wieni faktur kont[ao] rezerwacj przesy[lł]k umow",
    "kod заказ сч[её]т карт брон договор полис код накладн трек инн снилс",
    "sipari[sş] hesap rezervasyon poli[cç]e kargo takip ऑर्डर खात बिल बुकिंग कार्ड कोड आधार",
    "طلب الطلب فاتورة الفاتورة حساب الحساب حجز الحجز بطاقة البطاقة شحنة الشحنة عقد العقد",
    joined="[订訂][单單] [单單][号號] [编編][号號] [账帳][号號户戶] 卡[号號] 身份[证證] 合同 快[递遞] [发發]票"
    " 注文 請求 口座 会員 予約 受付 追跡 契約 주문 계좌 예약 송장 등록번호 회원 계약 청구 카드",
    stems=True,
)
"""Words for other things that have a number."""
ANNOUNCED_AFTER = Spoken(
    *(
        rf"{are}~(?:(?:el|o|le|il|a|la)~)?[^\W\d_]{{2,5}}{_NEW}~(?:n[uú]mero|m[oó]vil|tel[eé]fono|celular|telem[oó]vel"
        r"|telefone|num[eé]ro|portable|t[eé]l[eé]phone|cellulare|(?:handy|telefo+n)?nummer|numer|телефон|номер)"
        for are in "es é est è ist is to это".split()
    ),
    "numaras[ıi](?:ndan)? पर~(?:कॉल|फ़ोन|फोन|संपर्क)",
    joined="是[我他她]的(?:号码|號碼|手机|手機|电话|電話) [はが][私僕]の(?:番号|電話|携帯)"
    " 로~?(?:전화|연락) 으로~?(?:전화|연락)",
)
"""Words after a number that make it a telephone number."""
PASSWORDS = Spoken(
    "contrase[nñ]as? clave~(?:de~acceso|secreta|del?~wi-?fi) palavra[~-]passe senha mots?~de~passe mdp code~secret",
    "passwort wlan-passwort kennwort zugangscode parola~d'ordine codice~segreto wachtwoord has[lł](?:o|em|a)",
    "lösenord(?:et)? adgangskode(?:n)? passord(?:et)? salasana(?:ni)? heslo jelsz[oó](?:m|ja)? κωδικ[oό]ς~πρόσβασης",
    "парол(?:ь|я|ю|ем|е) [sş]ifre(?:m|miz|si|niz)? كلمة~(?:المرور|السر) الرقم~السري पासवर्ड",
    joined="密[码碼] 口令 パスワード 暗証番号 パスコード 비밀번호 비번 패스워드 รหัสผ่าน",
)
"""Words for a password."""
KEYS = Spoken(
    "clave(?<!palabra~clave)(?<!palabras~clave) chave(?<!palavra~chave) cl[eé] chiave schl[uü]ssel sleutel",
    "klucz ключ токен parola(?:m|mız)?",
    joined="令牌 密[钥鑰] トークン 토큰 암호",
)
"""The same, of words with other meanings too: their value must look like a secret."""
CODES = Spoken(
    *(
        f"{code}~(?:d[ei]~)?(?:verificaci[oó]n|seguridad|acceso|desbloqueo|verifica[cç][aã]o|seguran[cç]a|acesso"
        "|v[eé]rification|s[eé]curit[eé]|acc[eè]s|d[eé]verrouillage|verifica|sicurezza|accesso|sblocco|weryfikacyjny"
        "|dost[eę]pu)"
        for code in "c[oó]digo code codice kod".split()
    ),
    "best[aä]tigungscode sicherheitscode verifizierungscode freischaltcode verificatiecode beveiligingscode",
    "toegangscode код~(?:подтверждения|доступа|из~смс) do[gğ]rulama~kodu رمز~(?:التحقق|الدخول) ओटीपी",
    joined="[验驗][证證][码碼] 認証コード 確認コード 인증~?번호 인증~?코드 รหัสยืนยัน",
)
"""A temporary access code."""
OPENED = Spoken(
    "porte portail immeuble alarme coffre(?:-fort)? cadenas casier carte puerta portal alarma caja~fuerte candado",
    "taquilla edificio tarjeta m[oó]vil celular porta portone cancello allarme cassaforte lucchetto armadietto",
    "bancomat port[aã]o cofre cadeado arm[aá]rio pr[eé]dio cart[aã]o deur voordeur poort kluis slot kastje pas pinpas",
    "t[uü]r haust[uü]r tor alarmanlage tresor schloss schlie[sß]fach spind karte ec-karte handy garagen? telefono",
)
"""Words for what a code opens."""
LOCKS = Spoken(
    "locks? padlock lock~?box safe(?=~(?:is|was|takes|in|at|of|ist|im)) vault keypad digicode",
    "schloss zahlenschloss fahrradschloss vorh[aä]ngeschloss t[uü]rschloss tresor tastenfeld cadenas coffre(?:-fort)?",
    "candado caja~fuerte lucchetto cassaforte cadeado cofre hangslot kluis",
)
"""Words for what has a combination of its own: "the safe is 4821"."""
OPENS = Spoken(
    "open(?:s|ed|ing)? unlock(?:s|ed|ing)? disarm(?:s|ed|ing)? deactivat(?:e|es|ed|ing) turn(?:s|ed)?~off",
    "[oö]ffne(?:n|t|st)? aufsperr(?:en|t) entsperr(?:e|en|t|st) entriegel(?:n|t) geht schalte(?:n|t)? ausschalten",
    "ouvr(?:e|ez|ir|ant) d[eé]verrouill(?:e|es|ez|er) d[eé]sactiv(?:e|er|ez) d[eé]bloqu(?:e|er)",
    "abr(?:e|es|ir|en) desbloque(?:a|as|ar|ia|ias|ar) desactiva(?:r|s)? apr(?:e|ire|i) sblocc(?:a|are|hi)",
    "disattiv(?:a|are) desativ(?:a|ar) ga(?:at|an)~open open(?:t|en)? ontgrendel(?:t|en)? ontgrendel",
)
"""Verbs for opening something, and for turning an alarm off."""
ENTERS = Spoken(
    "enter(?:s|ing)? typ(?:e|es|ing) punch(?:~in)? key~in press dial tippe gib(?:st)? w[aä]hle dr[uü]cke",
    "tap(?:e|es|ez|er) compos(?:e|es|ez|er) saisi(?:s|ssez|r) teclea(?:r)? marca(?:r)? introduc(?:e|ir)",
    "digit(?:a|are|e|i) inseri(?:sci|re) insira insere toets typ voer",
)
"""Verbs for entering a number at a keypad."""
QUESTIONS = Spoken(
    "security~question secret~question sicherheitsfrage question~(?:de~s[eé]curit[eé]|secr[eè]te)",
    "pregunta~(?:de~seguridad|secreta)",
    "domanda~(?:di~sicurezza|segreta) pergunta~(?:de~seguran[cç]a|secreta) geheime~vraag veiligheidsvraag",
)
"""Words for a question by which somebody proves who they are."""
ARE = "(?:is|was|are|es|son|é|est|è|ist|lautet|to|är|er|on|je|este|это|هو|هي|है|是|为|為|は|는|은|คือ)"
"""Words between a name and its value."""
AT = "(?:al|el|en el|no|o|para|au|le|sur le|an|unter|il|op|het|na|do mnie|pod|на|по|على|مع|에|に)"
"""Words between calling and a number."""
OF = "(?:for|of|to|on|de|del|du|der|des|di|della|do|da|van|от|для|к)"
"""Words between a name and the thing that it belongs to."""
