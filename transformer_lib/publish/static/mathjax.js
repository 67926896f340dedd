// A formula carries its own glyphs, so that it can be copied into the speaker's window.
window.MathJax = {
  tex: { inlineMath: [["$", "$"]], processEscapes: true },
  svg: { fontCache: "local" },
  options: { enableMenu: false, skipHtmlTags: ["script", "noscript", "style", "textarea", "pre", "code"] },
  startup: { typeset: false },
};
