/** The words of the page for visitors who are not let through, in the languages of the challenge page. Texts only: escaping is the page's. */

/** The page in one language. */
interface DenialWords {
  readonly title: string;
  readonly message: string;
  readonly contact: string;
}

/** Both pages in one language; `reference` stands before the id for support. */
interface DenialLanguage {
  readonly block: DenialWords;
  readonly challenge: DenialWords;
  readonly reference: string;
}

/** By language, as `pageLanguage` names it. */
export const denialTexts: Readonly<Record<string, DenialLanguage>> = {
  en: {
    block: {
      title: "Access denied",
      message: "This request looks automated, so it was not let through.",
      contact: "If you think this is a mistake, contact the site's support and give them the reference below.",
    },
    challenge: {
      title: "Please confirm that you are a person",
      message: "This request may be automated, and this page could not confirm otherwise.",
      contact: "Reload the page to try again. If that does not help, give the site's support the reference below.",
    },
    reference: "Reference:",
  },
  de: {
    block: {
      title: "Zugriff verweigert",
      message: "Diese Anfrage sieht automatisiert aus und wurde deshalb nicht durchgelassen.",
      contact:
        "Wenn das ein Irrtum ist, wenden Sie sich bitte an den Support der Website und nennen Sie die Referenz unten.",
    },
    challenge: {
      title: "Bitte bestätigen Sie, dass Sie ein Mensch sind",
      message: "Diese Anfrage ist vielleicht automatisiert, und diese Seite konnte das nicht widerlegen.",
      contact:
        "Laden Sie die Seite neu, um es noch einmal zu versuchen. Wenn das nicht hilft, nennen Sie dem Support der Website die Referenz unten.",
    },
    reference: "Referenz:",
  },
  fr: {
    block: {
      title: "Accès refusé",
      message: "Cette requête semble automatisée ; elle n’a donc pas été acceptée.",
      contact:
        "Si vous pensez qu’il s’agit d’une erreur, contactez l’assistance du site et communiquez-lui la référence ci-dessous.",
    },
    challenge: {
      title: "Veuillez confirmer que vous êtes une personne",
      message: "Cette requête est peut-être automatisée, et cette page n’a pas pu établir le contraire.",
      contact:
        "Rechargez la page pour réessayer. Si cela ne suffit pas, communiquez la référence ci-dessous à l’assistance du site.",
    },
    reference: "Référence :",
  },
  es: {
    block: {
      title: "Acceso denegado",
      message: "Esta solicitud parece automatizada, por lo que no se ha permitido.",
      contact:
        "Si cree que se trata de un error, póngase en contacto con el soporte del sitio e indique la referencia de abajo.",
    },
    challenge: {
      title: "Confirme que es una persona",
      message: "Es posible que esta solicitud sea automatizada y esta página no ha podido descartarlo.",
      contact:
        "Vuelva a cargar la página para intentarlo de nuevo. Si no funciona, indique la referencia de abajo al soporte del sitio.",
    },
    reference: "Referencia:",
  },
  pt: {
    block: {
      title: "Acesso negado",
      message: "Este pedido parece automatizado e, por isso, não foi permitido.",
      contact: "Se acha que é um engano, contacte o suporte do site e indique a referência abaixo.",
    },
    challenge: {
      title: "Confirme que é uma pessoa",
      message: "Este pedido pode ser automatizado e esta página não conseguiu confirmar o contrário.",
      contact:
        "Recarregue a página para tentar novamente. Se isso não ajudar, indique a referência abaixo ao suporte do site.",
    },
    reference: "Referência:",
  },
  ja: {
    block: {
      title: "アクセスが拒否されました",
      message: "このリクエストは自動化されたものと判断されたため、許可されませんでした。",
      contact: "誤りだと思われる場合は、サイトのサポートに下記の参照番号をお伝えください。",
    },
    challenge: {
      title: "人による操作であることを確認してください",
      message: "このリクエストは自動化されている可能性があり、このページでは確認できませんでした。",
      contact:
        "ページを再読み込みしてもう一度お試しください。解決しない場合は、サイトのサポートに下記の参照番号をお伝えください。",
    },
    reference: "参照番号：",
  },
  zh: {
    block: {
      title: "访问被拒绝",
      message: "此请求看起来是自动发出的，因此未被放行。",
      contact: "如果您认为这是误判，请联系网站客服，并提供下面的查询编号。",
    },
    challenge: {
      title: "请确认您是真人",
      message: "此请求可能是自动发出的，本页面无法确认并非如此。",
      contact: "请重新加载页面再试一次。如果仍然不行，请向网站客服提供下面的查询编号。",
    },
    reference: "查询编号：",
  },
  ar: {
    block: {
      title: "تم رفض الوصول",
      message: "يبدو أن هذا الطلب آلي، لذلك لم يُسمح به.",
      contact: "إذا كنت تعتقد أن هذا خطأ، فيُرجى التواصل مع دعم الموقع وذكر الرقم المرجعي أدناه.",
    },
    challenge: {
      title: "يُرجى تأكيد أنك شخص",
      message: "قد يكون هذا الطلب آليًا، ولم تتمكن هذه الصفحة من تأكيد خلاف ذلك.",
      contact: "أعد تحميل الصفحة للمحاولة مرة أخرى. إذا لم يساعد ذلك، فاذكر الرقم المرجعي أدناه لدعم الموقع.",
    },
    reference: "الرقم المرجعي:",
  },
};
