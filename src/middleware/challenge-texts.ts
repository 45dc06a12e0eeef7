/** The words of the challenge page, and the choice of a visitor's language. Texts only: escaping is the page's. */

/** The page in one language. */
interface ChallengeTexts {
  readonly title: string;
  /** What happens and how long it takes. */
  readonly message: string;
  readonly working: string;
  readonly done: string;
  readonly failed: string;
  /** It was not confirmed that a person is there, or that did not hold. */
  readonly refused: string;
  /** Where the page's script does not come. */
  readonly late: string;
  readonly again: string;
  /** For a form that was posted: it was not sent. */
  readonly form: string;
  readonly back: string;
  readonly noScript: string;
  /** Before the id for support. */
  readonly reference: string;
}

/** By language, as `lang` names it. The first is for everybody else. */
export const challengeTexts: Readonly<Record<string, ChallengeTexts>> = {
  en: {
    title: "One moment, please",
    message:
      "We are checking that this visit is not automated. This takes a few seconds, and you do not have to do anything.",
    working: "Checking…",
    done: "Done. The page is loading.",
    failed: "The check did not work. Please check your connection and try again.",
    refused:
      "We could not confirm that you are a person. You can try again in 30 seconds. If that does not help, give the site’s support the reference below.",
    late: "This check is taking too long: a part of the page did not load.",
    again: "Try again",
    form: "Done. Your form was not sent. Please go back and send it again.",
    back: "Go back",
    noScript:
      "This check needs JavaScript. Please turn it on for this site and reload the page, or contact the site's support.",
    reference: "Reference for support:",
  },
  de: {
    title: "Einen Moment bitte",
    message:
      "Wir prüfen, dass dieser Besuch nicht automatisiert ist. Das dauert ein paar Sekunden, Sie müssen nichts tun.",
    working: "Prüfung läuft …",
    done: "Fertig. Die Seite wird geladen.",
    failed: "Die Prüfung hat nicht geklappt. Bitte prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.",
    refused:
      "Wir konnten nicht bestätigen, dass Sie ein Mensch sind. In 30 Sekunden können Sie es noch einmal versuchen. Wenn das nicht hilft, nennen Sie dem Support der Website die Referenz unten.",
    late: "Die Prüfung dauert zu lange: Ein Teil der Seite wurde nicht geladen.",
    again: "Noch einmal versuchen",
    form: "Fertig. Ihr Formular wurde nicht gesendet. Bitte gehen Sie zurück und senden Sie es noch einmal.",
    back: "Zurück",
    noScript:
      "Diese Prüfung braucht JavaScript. Bitte schalten Sie es für diese Website ein und laden Sie die Seite neu, oder wenden Sie sich an den Support der Website.",
    reference: "Referenz für den Support:",
  },
  fr: {
    title: "Un instant, s’il vous plaît",
    message:
      "Nous vérifions que cette visite n’est pas automatisée. Cela prend quelques secondes, vous n’avez rien à faire.",
    working: "Vérification…",
    done: "C’est fait. La page se charge.",
    failed: "La vérification a échoué. Vérifiez votre connexion et réessayez.",
    refused:
      "Nous n’avons pas pu confirmer que vous êtes une personne. Vous pourrez réessayer dans 30 secondes. Si cela ne suffit pas, indiquez à l’assistance du site la référence ci-dessous.",
    late: "La vérification prend trop de temps : une partie de la page ne s’est pas chargée.",
    again: "Réessayer",
    form: "C’est fait. Votre formulaire n’a pas été envoyé. Revenez en arrière et envoyez-le à nouveau.",
    back: "Revenir en arrière",
    noScript:
      "Cette vérification a besoin de JavaScript. Activez-le pour ce site et rechargez la page, ou contactez l’assistance du site.",
    reference: "Référence pour l’assistance :",
  },
  es: {
    title: "Un momento, por favor",
    message: "Estamos comprobando que esta visita no es automatizada. Tarda unos segundos y no tiene que hacer nada.",
    working: "Comprobando…",
    done: "Listo. La página se está cargando.",
    failed: "La comprobación no ha funcionado. Revise su conexión e inténtelo de nuevo.",
    refused:
      "No hemos podido confirmar que usted es una persona. Puede intentarlo de nuevo en 30 segundos. Si no funciona, indique al soporte del sitio la referencia de abajo.",
    late: "La comprobación está tardando demasiado: una parte de la página no se ha cargado.",
    again: "Intentar de nuevo",
    form: "Listo. Su formulario no se ha enviado. Vuelva atrás y envíelo de nuevo.",
    back: "Volver",
    noScript:
      "Esta comprobación necesita JavaScript. Actívelo para este sitio y recargue la página, o póngase en contacto con el soporte del sitio.",
    reference: "Referencia para el soporte:",
  },
  pt: {
    title: "Um momento, por favor",
    message:
      "Estamos verificando que esta visita não é automatizada. Isso leva alguns segundos e não é preciso fazer nada.",
    working: "Verificando…",
    done: "Pronto. A página está carregando.",
    failed: "A verificação não funcionou. Verifique sua conexão e tente novamente.",
    refused:
      "Não foi possível confirmar que você é uma pessoa. Você pode tentar novamente em 30 segundos. Se isso não ajudar, informe ao suporte do site a referência abaixo.",
    late: "A verificação está demorando demais: uma parte da página não foi carregada.",
    again: "Tentar novamente",
    form: "Pronto. Seu formulário não foi enviado. Volte e envie-o novamente.",
    back: "Voltar",
    noScript:
      "Esta verificação precisa de JavaScript. Ative-o para este site e recarregue a página, ou fale com o suporte do site.",
    reference: "Referência para o suporte:",
  },
  ja: {
    title: "少々お待ちください",
    message: "このアクセスが自動化されたものではないことを確認しています。数秒で終わります。操作は必要ありません。",
    working: "確認しています…",
    done: "確認できました。ページを読み込んでいます。",
    failed: "確認できませんでした。接続を確認して、もう一度お試しください。",
    refused:
      "人による操作であることを確認できませんでした。30秒後にもう一度お試しいただけます。解決しない場合は、下の参照番号をサイトのサポートにお知らせください。",
    late: "確認に時間がかかりすぎています。ページの一部を読み込めませんでした。",
    again: "もう一度試す",
    form: "確認できました。フォームは送信されていません。前のページに戻り、もう一度送信してください。",
    back: "戻る",
    noScript:
      "この確認には JavaScript が必要です。このサイトで JavaScript を有効にしてページを再読み込みするか、サイトのサポートにお問い合わせください。",
    reference: "サポート用の参照番号：",
  },
  zh: {
    title: "请稍候",
    message: "我们正在确认本次访问不是自动程序。只需几秒钟，您无需任何操作。",
    working: "正在确认…",
    done: "已完成。正在加载页面。",
    failed: "确认未成功。请检查网络连接后重试。",
    refused: "我们无法确认您是真人访问。您可以在 30 秒后重试。如果仍不成功，请将下方的编号告知网站客服。",
    late: "确认耗时过长：页面的一部分未能加载。",
    again: "重试",
    form: "已完成。您的表单尚未提交，请返回并重新提交。",
    back: "返回",
    noScript: "此项确认需要 JavaScript。请为本网站启用 JavaScript 并重新加载页面，或联系网站的客服。",
    reference: "客服查询编号：",
  },
  ar: {
    title: "لحظة من فضلك",
    message: "نتحقق من أن هذه الزيارة ليست آلية. يستغرق ذلك بضع ثوانٍ، ولا يلزمك فعل أي شيء.",
    working: "جارٍ التحقق…",
    done: "تم. جارٍ تحميل الصفحة.",
    failed: "لم ينجح التحقق. يُرجى التأكد من الاتصال والمحاولة مرة أخرى.",
    refused:
      "لم نتمكن من التأكد من أنك شخص حقيقي. يمكنك المحاولة مرة أخرى بعد 30 ثانية. إذا لم ينجح ذلك، فزوّد دعم الموقع بالرقم المرجعي أدناه.",
    late: "يستغرق التحقق وقتًا أطول من اللازم: لم يُحمَّل جزء من الصفحة.",
    again: "حاول مرة أخرى",
    form: "تم. لم يُرسَل النموذج. يُرجى العودة وإرساله مرة أخرى.",
    back: "رجوع",
    noScript: "يحتاج هذا التحقق إلى JavaScript. يُرجى تفعيله لهذا الموقع وإعادة تحميل الصفحة، أو التواصل مع دعم الموقع.",
    reference: "الرقم المرجعي للدعم:",
  },
};

const defaultLanguage = "en";
/** Languages of a header that are looked at: browsers send a few. */
const languagesMax = 20;

/** The language of the visitor's `Accept-Language` that the page speaks best (RFC 9110, section 12.5.4); English for all others. */
export function pageLanguage(acceptLanguage: string): string {
  let best = defaultLanguage;
  let bestQuality = 0;
  for (const item of acceptLanguage.slice(0, 512).split(",", languagesMax)) {
    const [range = "", ...parameters] = item.trim().toLowerCase().split(";");
    const language = range.split("-", 1)[0]!.trim();
    const weight = parameters.map((each) => /^\s*q=([01](?:\.[0-9]{0,3})?)\s*$/.exec(each)?.[1]).find(Boolean);
    const quality = weight === undefined ? 1 : Number(weight);
    if (!Object.hasOwn(challengeTexts, language) || quality <= bestQuality) continue;
    best = language;
    bestQuality = quality;
  }
  return best;
}
