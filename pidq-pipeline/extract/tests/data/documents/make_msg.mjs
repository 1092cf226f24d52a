// Creates an Outlook message with the npm package @tutao/oxmsg: `node make_msg.mjs DIR` writes it there with its expected text.
import { writeFileSync } from "node:fs"
import { Attachment, Email, MessageEditorFormat } from "@tutao/oxmsg"

const folder = process.argv[2]
const mail = new Email()
mail.subject("Unit 20 manual")
mail.bodyText("Relief valve PSV-2015A\r\nSet pressure: 38.5 barg. Körper aus Stahl, 80 °C")
mail.bodyHtml("<p>Not this: it is the same in HTML.</p>")
mail.bodyFormat(MessageEditorFormat.EDITOR_FORMAT_HTML)
mail.sender("j@example.com", "Jürgen Maß")
mail.to("a@example.com", "Bö")
mail.sentOn(new Date("2026-11-21T09:00:00Z"))
mail.attach(new Attachment(new Uint8Array([37, 80, 68, 70]), "V-201.pdf", "cid"))
writeFileSync(`${folder}/sent.msg`, mail.msg())
const text =
    "Subject: Unit 20 manual From: Jürgen Maß <j@example.com> To: Bö <a@example.com> Date: 2026-11-21T09:00:00Z " +
    "Relief valve PSV-2015A Set pressure: 38.5 barg. Körper aus Stahl, 80 °C"
const expected = { pages: [text], labels: ["1"], title: "Unit 20 manual" }
writeFileSync(`${folder}/sent.msg.expected.json`, JSON.stringify(expected, null, 1) + "\n")
