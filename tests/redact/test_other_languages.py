"""Numbers and passwords as people write them in languages other than English, and look-alikes."""

from __future__ import annotations

import pytest

from mnemic.redact.redactor import Redactor

SECRET = b"k" * 32


def entities(text: str) -> list[tuple[str, str]]:
    """Entity and covered text of every find."""
    return [(span.entity, text[span.start : span.end]) for span in Redactor().find(text)]


PHONES = [
    ("mi teléfono es 612345678", "612345678"),
    ("mi telefono es 612345678", "612345678"),
    ("mi móvil es el 612345678", "612345678"),
    ("móvil612345678", "612345678"),
    ("llámame al 612345678", "612345678"),
    ("puedes llamarme por la tarde al 612345678", "612345678"),
    ("tlf. 612345678", "612345678"),
    ("Tfno: 912345678", "912345678"),
    ("mi número es 612345678", "612345678"),
    ("el 612345678 es mi número nuevo", "612345678"),
    ("Tu pedido está listo, llámame al 612345678", "612345678"),
    ("Rufnummer 03012345678", "03012345678"),
    ("meine Handynummer ist 01711234567", "01711234567"),
    ("ruf mich an unter 01711234567", "01711234567"),
    ("01711234567 ist meine neue Nummer", "01711234567"),
    ("appelle-moi au 0612345678", "0612345678"),
    ("mon portable: 0612345678", "0612345678"),
    ("son téléphone est le 0612345678", "0612345678"),
    ("il mio numero è 3331234567", "3331234567"),
    ("cellulare 3331234567", "3331234567"),
    ("chiamami al 3331234567", "3331234567"),
    ("meu celular é 11987654321", "11987654321"),
    ("o meu telemóvel é o 912345678", "912345678"),
    ("meu telefone 21 98765-4321", "21 98765-4321"),
    ("me liga no 11987654321", "11987654321"),
    ("mijn nummer is 0612345678", "0612345678"),
    ("bel me op 0612345678", "0612345678"),
    ("mój numer to 601234567", "601234567"),
    ("zadzwoń do mnie: 601234567", "601234567"),
    ("мой телефон 89161234567", "89161234567"),
    ("позвони мне на 89161234567", "89161234567"),
    ("мой номер — 89161234567", "89161234567"),
    ("telefonum 05321234567", "05321234567"),
    ("beni 05321234567 numarasından ara", "05321234567"),
    ("رقم هاتفي 0501234567", "0501234567"),
    ("اتصل بي على 0501234567", "0501234567"),
    ("मेरा नंबर 9876543210 है", "9876543210"),
    ("मुझे 9876543210 पर कॉल करें", "9876543210"),
    ("我的电话是13812345678", "13812345678"),
    ("打我手机 13812345678", "13812345678"),
    ("手机号13812345678，谢谢", "13812345678"),
    ("13812345678是我的号码", "13812345678"),
    ("電話番号09012345678", "09012345678"),
    ("電話は090-1234-5678です", "090-1234-5678"),
    ("携帯は09012345678です", "09012345678"),
    ("제 번호는 010-1234-5678이에요", "010-1234-5678"),
    ("전화 01012345678", "01012345678"),
    ("010-1234-5678로 전화 주세요", "010-1234-5678"),
]

SECRETS = [
    ("mi contraseña es hunter2", "hunter2"),
    ("la contraseña del wifi de casa es hunter2", "hunter2"),
    ("contraseña del wifi: solete", "solete"),
    ("la clave es Xk39!ab", "Xk39!ab"),
    ("mi pin es 4821", "4821"),
    ("el código de verificación es 482913", "482913"),
    ("mon mot de passe est hunter2", "hunter2"),
    ("mdp: hunter2", "hunter2"),
    ("mein Passwort ist hunter2", "hunter2"),
    ("das WLAN-Passwort lautet hunter2", "hunter2"),
    ("Ihr Bestätigungscode: 482913", "482913"),
    ("senha: tucano", "tucano"),
    ("minha senha é hunter2", "hunter2"),
    ("la password è hunter2", "hunter2"),
    ("mijn wachtwoord is hunter2", "hunter2"),
    ("hasło: hunter2", "hunter2"),
    ("moje hasło to hunter2", "hunter2"),
    ("пароль: hunter2", "hunter2"),
    ("мой пароль hunter2", "hunter2"),
    ("пароль от вайфая — hunter2", "hunter2"),
    ("код подтверждения 482913", "482913"),
    ("şifrem hunter2", "hunter2"),
    ("كلمة المرور: hunter2", "hunter2"),
    ("मेरा पासवर्ड hunter2 है", "hunter2"),
    ("我的密码是hunter2", "hunter2"),
    ("密码：hunter2", "hunter2"),
    ("wifi密码hunter2。", "hunter2"),
    ("验证码482913，请勿泄露", "482913"),
    ("パスワードはhunter2です", "hunter2"),
    ("パスワード：hunter2", "hunter2"),
    ("비밀번호는 hunter2", "hunter2"),
    ("비밀번호: hunter2", "hunter2"),
    ("인증번호 482913", "482913"),
]

JOINED = [
    ("邮箱是jane@acme.com吗", "EMAIL", "jane@acme.com"),
    ("卡号4111111111111111吗", "CARD", "4111111111111111"),
    ("账户DE89370400440532013000的", "IBAN", "DE89370400440532013000"),
    ("服务器是203.0.113.7吗", "IP", "203.0.113.7"),
    ("メールはjane@acme.comです", "EMAIL", "jane@acme.com"),
    ("메일은 jane@acme.com입니다", "EMAIL", "jane@acme.com"),
    ("密钥是AKIAIOSFODNN7EXAMPLE吧", "SECRET", "AKIAIOSFODNN7EXAMPLE"),
    ("โทร081-234-5678ครับ", "PHONE", "081-234-5678"),
]

BENIGN = [
    "el pedido 612345678 llega mañana",
    "llámame por la factura 612345678",
    "mi número de pedido es 612345678",
    "referencia 612345678 del contrato",
    "llamé a las 10:30 del 12-03-2024",
    "la clave es la paciencia",
    "palabra clave: seguridad",
    "la contraseña es obligatoria",
    "he olvidado la contraseña del correo",
    "die Bestellnummer ist 0612345678",
    "ruf mich wegen der Rechnung 0612345678 an",
    "das Passwort ist abgelaufen",
    "der Schlüssel liegt unter der Matte",
    "le mot de passe est obligatoire",
    "ma commande numéro 0612345678",
    "un ordinateur portable à 1200 euros",
    "la chiave è sotto il vaso",
    "o número do pedido é 11987654321",
    "a senha expirou ontem",
    "het wachtwoord is verlopen",
    "mijn bestelnummer is 0612345678",
    "numer zamówienia 601234567",
    "пароль устарел вчера",
    "номер заказа 89161234567",
    "ключ от квартиры у соседа",
    "订单号13812345678已发货",
    "他的密码已经过期",
    "2024年1月15日打了3次电话",
    "注文番号09012345678",
    "パスワードを忘れました",
    "주문번호 01012345678",
    "비밀번호를 잊어버렸어요",
    "sipariş numarası 05321234567",
    "رقم الطلب 0501234567",
    "ऑर्डर नंबर 9876543210",
    "me gusta el 7 y el 12345",
    "contamos 612345678 habitantes",
]


@pytest.mark.parametrize(("text", "number"), PHONES)
def test_telephone_numbers(text: str, number: str) -> None:
    assert entities(text) == [("PHONE", number)]


@pytest.mark.parametrize(("text", "value"), SECRETS)
def test_passwords_and_codes(text: str, value: str) -> None:
    assert entities(text) == [("SECRET", value)]


@pytest.mark.parametrize(("text", "entity", "covered"), JOINED)
def test_what_is_written_without_blanks(text: str, entity: str, covered: str) -> None:
    assert entities(text) == [(entity, covered)]


@pytest.mark.parametrize("text", BENIGN)
def test_benign_texts_stay(text: str) -> None:
    assert entities(text) == []


@pytest.mark.parametrize("text", [text for text, *_ in [*PHONES, *SECRETS, *JOINED]])
def test_doing_it_twice_changes_nothing(text: str) -> None:
    once = Redactor().redact(text, SECRET).text
    assert Redactor().redact(once, SECRET).text == once
