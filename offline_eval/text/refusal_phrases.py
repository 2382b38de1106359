"""The wordings by which answers decline, in English and Chinese, as regular expressions over one normalised clause.

Why apart from the rule: a new wording is a new line here and a new row in the test set, never a new branch in code.
Text inside quotation marks is already gone and case is folded when they are applied.
"""

# English. Words for the material at hand, for what it could say, and for what a speaker could do with it.
_DOC_EN = (
    r"(?:documents?|documentation|passages?|texts?|contexts?|sources?(?! code)|articles?|materials|handbooks?|"
    r"manuals?|guides?|"
    r"guidelines?|excerpts?|paragraphs?|snippets?|extracts?|chunks?|corpus|(?:search )?results|knowledge base|database|"
    r"(?:our|my|the) records|(?:provided|given|available|supplied|retrieved|existing) (?:information|content|data|"
    r"material|"
    r"pages?|files?|reports?|polic(?:y|ies)))"
)
_SAY_EN = (
    r"(?:say|state|mention|specif(?:y|ie)|contain|include|provide|give|cover|discuss|address|describe|indicate|explain|"
    r"disclose|offer|tell|reveal|list|answer|refer|record|note|report|touch on|go into|talk about|speak (?:of|to|"
    r"about)|"
    r"deal with|make (?:\w+ ){1,2}clear|clarify|shed (?:\w+ )?light|elaborate|detail|name|identify|present|supply|"
    r"comment|hold|have|help)"
)
_SAID_EN = (
    r"(?:said|stated|mentioned|specified|contained|included|provided|given|covered|discussed|addressed|described|"
    r"indicated|explained|disclosed|revealed|listed|answered|found|available|recorded|noted|present|clear|detailed|"
    r"named|identified|touched on|spelled out|documented)"
)
_FACT_EN = (
    r"(?:information|info|mention|details?|data|answers?|indication|evidence(?! (?:that|of))|records?|entry|entries|"
    r"reference|content|material|"
    r"knowledge|specifics|documentation|explanation|statement|context|basis|discussion|description|figures?|facts?)"
)
_AFTER_FACT_EN = (
    r"(?=$| (?:about|on|regarding|concerning|in|within|for|of|to|that|which|available|given|provided|found|here|there|"
    r"as|"
    r"whether|how|when|who|what|why|where|required|needed|necessary|relat\w+|relevant|i|we|from)\b)"
)
_KNOW_EN = (
    r"(?:answer|determine|tell|say|know|find|provide|confirm|locate|verify|identify|conclude|infer|establish|deduce|"
    r"help|assist|give|respond|comment|offer|share|discuss|comply|fulfil+|see|address|derive|ascertain|speak)"
)
_NOT_EN = r"(?:not|\w+n't|never|nowhere|cannot|fails? to|failed to|neither|nor)"
_NONE_EN = r"(?:none|neither|no one|not one|nothing|no)"
_CANNOT_EN = (
    r"(?:can't|cannot|can not|could not|couldn't|won't|will not|unable to|not able to|wasn't able to|weren't able to|"
    r"not in a position to|not possible for me to|failed to)"
)
_WHAT_EN = r"(?:who|whom|whose|what|when|where|which|why|how|whether|if)"
# A clause in which the material does say something ("the text states that it is not covered") never declines.
_SAYS_EN = (
    r"(?:says|states|stated|indicates|notes|specifies|explains|reports|shows|makes clear|requires|stipulates|"
    r"state|indicate|specify|say|confirm|confirms)(?: that)? (?!nothing|no\b|neither)"
)
_UP_TO_NOT_EN = rf"(?:(?!\b{_SAYS_EN}).){{0,60}}?"

REFUSALS_EN: tuple[str, ...] = (
    # The speaker cannot, or will not.
    rf"(?:\b(?:i|we|i'm|we're|i am|we are|i was)|"
    rf"^(?:sorry )?)(?: \w+){{0,2}}? ?\b{_CANNOT_EN} (?:be able to )?(?:\w+ )?"
    rf"{_KNOW_EN}\b",
    r"\b(?:i|we) (?:\w+ )?(?:do not|don't|did not|didn't) (?:\w+ )?know\b",
    r"^(?:i'm|i am|we're|we are) (?:\w+ )?(?:not (?:\w+ )?(?:sure|certain)|unsure|uncertain)\b",
    rf"\b(?:i|we) (?:\w+ )?(?:do not|don't|did not|didn't) (?:\w+ )?(?:have|see|find|possess|hold) (?:\w+ ){{0,4}}"
    rf"(?:anything\b|{_FACT_EN}{_AFTER_FACT_EN})",
    rf"\b(?:i|we) (?:\w+ )?(?:have|found|find|see|possess) (?:no|insufficient|little|too little) (?:\w+ ){{0,2}}?"
    rf"{_FACT_EN}{_AFTER_FACT_EN}",
    rf"\b(?:i|we) (?:\w+ )?(?:lack|am missing|are missing) (?:\w+ ){{0,3}}?{_FACT_EN}{_AFTER_FACT_EN}",
    r"\b(?:i|we) (?:must|have to|need to|will|would|'ll) (?:\w+ )?(?:decline|refuse|refrain|abstain)\b",
    r"\b(?:i'd|i would|we would) (?:rather|prefer) not(?: to)? (?:answer|say|comment|respond)\b",
    r"\b(?:i|we)(?: would|'d)? (?:need|require) (?:\w+ ){0,2}(?:information|context|details|data) (?:to|before|"
    r"in order)\b",
    r"^(?:that|this|it)(?: is|'s) (?:not something|nothing|beyond what) (?:i|we)\b",
    rf"\b{_CANNOT_EN} (?:tell|give|provide|help|answer|offer) you\b",
    r"\b(?:i am|i'm|we are|we're|i|we) (?:can )?only (?:able to )?(?:answer|help|assist|respond)\b",
    # The material does not.
    rf"\b{_DOC_EN}\b{_UP_TO_NOT_EN}\b{_NOT_EN} (?:\w+ ){{0,3}}?{_SAY_EN}s?\b",
    rf"\b{_DOC_EN}\b{_UP_TO_NOT_EN}\b(?:contains?|includes?|gives?|provides?|has|have|offers?|says?|mentions?|makes?|"
    rf"tells? "
    rf"us)(?: \w+)? (?:nothing|no (?:\w+ ){{0,2}}{_FACT_EN})\b",
    rf"\b{_DOC_EN} (?:is|are|remains?|stays?) (?:silent|mute|quiet|insufficient|inadequate|not sufficient|not enough|"
    rf"unclear)\b",
    rf"\b{_DOC_EN} (?:lacks?|omits?|leaves? (?:this|the|that|it)\b.{{0,24}}\b(?:open|unanswered|unclear))",
    rf"^(?:they|it|this|that|which|these)(?: \w+)? (?:do not|does not|don't|doesn't|did not|didn't|never|"
    rf"fails? to)(?: \w+)? "
    rf"{_SAY_EN}\b(?!.*\d)",
    r"^(?:they|it|this|that|which) (?:contains?|includes?|gives?|provides?|has|have|says?|mentions?) (?:nothing|no)\b",
    rf"\b{_NONE_EN} of (?:the|these|those|my|our|them)(?: \w+){{0,2}}? ?(?:{_DOC_EN})?(?: \w+)? ?{_SAY_EN}(?:s|es)?\b",
    rf"\b(?:no|neither|not a single|not one)(?: \w+)? {_DOC_EN}(?: \w+){{0,2}}? {_SAY_EN}(?:s|es)?\b",
    rf"\bnothing (?:\w+ )?in (?:the|these|this|any|my|our)\b.{{0,20}}\b{_DOC_EN}\b.{{0,12}}\b(?:{_SAY_EN}s?|about|"
    rf"suggests?)\b",
    rf"\b(?:nothing|not (?:\w+ )?anything|no (?:\w+ ){{0,2}}{_FACT_EN}) (?:is |was )?(?:\w+ )?(?:about|on|regarding|"
    rf"concerning)\b"
    rf".{{0,60}}\b{_DOC_EN}\b",
    rf"(?:\bmissing from|\babsent from|\bomitted from|\bleft out of|(?:\bnot|n't) (?:\w+ )?in|(?:\bnot|n't) part of|"
    rf"\bnowhere in)"
    rf" (?:the|these|this|any|any of the|my|our|those)?(?: \w+){{0,2}} ?{_DOC_EN}\b",
    rf"(?:\bnot|n't|\bnever|\bnowhere) (?:\w+ )?{_SAID_EN}\b.{{0,30}}\b{_DOC_EN}\b",
    rf"^(?:it|this|that|(?:the|that|this) (?:answer|information|topic|subject|question|point|matter|detail))(?: is|'s|"
    rf"was| has)?(?: not|n't| never| "
    rf"nowhere)(?: been)? (?:\w+ )?{_SAID_EN}(?: anywhere| here| there)?$",
    rf"\b{_DOC_EN}\b.{{0,20}}\b(?:did not|does not|do not|didn't) (?:return|yield|turn up|produce)\b",
    # Nobody could.
    rf"\bthere(?:'s| is| are|'re| was| were) (?:\w+ )?(?:no|not enough|insufficient|not any|not sufficient|"
    rf"not a single|not one|little|nothing|too little)"
    rf" (?:\w+ ){{0,2}}?{_FACT_EN}{_AFTER_FACT_EN}",
    rf"\bthere (?:isn't|aren't|wasn't|weren't) (?:\w+ )?(?:any|enough|"
    rf"sufficient) (?:\w+ ){{0,2}}?{_FACT_EN}{_AFTER_FACT_EN}",
    r"\bno (?:\w+ ){0,2}?(?:information|details|data|answer|results?|documents?|passages?|content|match\w*) "
    r"(?:was|were|is|are|could be|can be|has been) (?:\w+ )?(?:found|available|provided|given|retrieved|returned)\b",
    r"\b(?:cannot|can't|can not|could not|couldn't|not) be (?:\w+ )?(?:answered|determined|inferred|established|"
    r"concluded|derived)\b"
    rf"(?=$|.{{0,40}}\b(?:{_DOC_EN}|information)\b)",
    rf"^(?:it is|it's|there is|there's)? ?(?:\w+ )?(?:not possible|impossible|no way|hard|"
    rf"difficult) (?:for me )?(?:to|of) "
    rf"(?:tell|tell\w*|determin\w+|answer\w*|say\w*|know\w*|infer\w*)\b(?: this)?(?=$| {_WHAT_EN}\b|"
    rf".{{0,60}}\b{_DOC_EN}\b)",
    rf"\b(?:not|un)[ -]?clear\b.{{0,10}}\bfrom\b.{{0,20}}\b{_DOC_EN}\b",
    rf"\b(?:outside|beyond|not within) (?:of )?(?:the|my|these|what|our)\b.{{0,40}}(?:{_DOC_EN}|knowledge|scope|\bi\b|"
    rf"\bwe\b)",
    rf"\b(?:not enough|insufficient|too little) (?:\w+ )?{_FACT_EN} (?:\w+ ){{0,4}}?to {_KNOW_EN}\b(?!.*\b(?:is|are|"
    rf"was|were)\b)",
    # The whole clause is one phrase.
    r"^(?:n/?a|unknown|unanswerable|no answer|no idea|no comment|not sure|no clue|(?:it's |it is |this is |that is |"
    r"that's )?"
    r"(?:not (?:\w+ )?known|unclear|unknown|not clear|unanswerable))$",
    rf"^(?:(?:the )?(?:answer|information|data|detail)s? )?(?:is |are )?(?:not|never) (?:\w+ )?(?:{_SAID_EN}|"
    rf"answerable)"
    rf"(?: (?:in|by|from)\b.{{0,20}}\b{_DOC_EN})?$",
    rf"^(?:insufficient|not enough|no(?: \w+)?) {_FACT_EN}(?: (?:available|provided|found|given|to {_KNOW_EN}.*))?$",
)

FILLERS_EN: tuple[str, ...] = (
    r"^(?:i'm |i am |we're |we are |so |very |really |i do |my )*(?:sorry|afraid|apologi\w+)\b[^0-9]{0,40}$",
    rf"^my {_DOC_EN} (?:is|are) limited\b|^apologies$|^(?:try|ask|contact|consult)\b",
    r"^(?:thanks?|thank you|hello|hi|hmm|well|dear|good question|great question|however|unfortunately|regrettably|"
    r"sadly|"
    r"also|currently|at present|so far)\b(?: \w+){0,4}$",
    r"\b(?:please|kindly) (?:contact|ask|consult|check|refer|see|provide|reach|visit|let|try|rephrase|clarify|share)\b",
    r"\byou (?:may|might|can|could|should|will need to|would need to)(?: \w+){0,3}? (?:contact|ask|consult|check|"
    r"refer|reach|"
    r"rephrase|search|visit|look|try)\b",
    r"^(?:i|we)(?: would|'d)? (?:recommend|suggest|advise|encourage) (?:that you |you |to )?(?:contact|ask|consult|"
    r"check|refer|"
    r"reach|search|visit|look|try|see)",
    r"^(?:if (?:you (?:have|need|want|would|could|can|provide|share|let|tell|give)|there)\b.*|let (?:me|us) know\b.*|"
    r"feel free\b.*)$",
    r"^(?:i|we)(?:'d| would)(?: be happy| be glad| rather not| prefer not)\b",
    r"^(?:i|we)(?:'ve| have)? (?:\w+ )?(?:searched|checked|looked|read|reviewed|examined|went)\b",
    r"^as an? (?:ai|artificial|language|assistant)\b",
    rf"^(?:without|based on|according to|from|given|judging by|in|after)\b[^,0-9]*\b(?:{_DOC_EN}|information|"
    rf"details?)$",
    r"^(?:regarding|concerning|as for|with regard to|in terms of)\b[^,0-9]*$",
    rf"^(?:the |these |this |those |all |both )?(?:\w+ ){{0,3}}?{_DOC_EN} (?:i have |here |above )?(?:only |mainly |"
    rf"just |mostly |"
    r"do |does |all )?(?:discuss(?:es)?|talks?|describes?|covers?|focus(?:es)?|deals?|(?:is|are) (?:only |mainly |"
    r"mostly |all )?"
    r"(?:about|on|for)|concerns?|introduces?)\b[^0-9]*$",
    r"^(?:they|it|which) (?:only|mainly|just|mostly) (?:discuss(?:es)?|talks?|describes?|covers?|focus(?:es)?|"
    r"deals?)\b[^0-9]*$",
)

# Chinese, by the same three kinds of words.
_DOC_ZH = (
    r"(?:文档|文件|节选|摘录|文字[里中]|资料|材料|手册|指南|上下文|原文|文中|本文|文本|全文|文章|正文|段落|段文字|"
    r"段话|几段|条目|知识库|语料|制度|"
    r"规章|(?:检索|搜索|查询)(?:到的?|出的?)?(?:结果|内容|信息)|(?:现有|提供|已有|所给|给定|给出|可用|上述|"
    r"以上)的?(?:信息|内容|"
    r"文字|数据)|来源|参考|里面|其中|片段|篇章|记录[里中]|书[里中]|数据库)"
)
_SAY_ZH = (
    r"(?:提到|提及|提供|给出|说明|说清|说|写明|写|涉及|涵盖|包含|包括|规定|指出|讨论|记载|介绍|描述|解释|明确|列出|"
    r"显示|"
    r"回答|覆盖|谈到|谈及|讲到|讲|表明|交代|透露|阐述|标明|注明|记录|收录|体现|论及|触及|言明|出现)"
)
_NOT_ZH = (
    r"(?:查无|略去|略过|并没有|没有|并未|从未|均未|皆未|未曾|未能|都未|并没|都没|没|未|并不|均不|都不|"
    r"不(?![得可能允须准应该需])|毫无|并无|无)"
)
_KNOW_ZH = (
    r"(?:回答|作答|答复|确定|判断|得知|得出|确认|看出|推断|知道|提供|给出|帮|协助|解答|说明|找到|告诉|告知|获知|获取|"
    r"推测|处理|满足|完成|判定|断定|知晓|作出|做出|下结论|回应|核实|推出|推导|查到|置评)"
)
_CANNOT_ZH = r"(?:无法|不能|没法|没办法|难以|无从|不便|未能|没能|不可能|不予)"
_FACT_ZH = r"(?:信息|资料|材料|数据|内容|记录|答案|依据|证据|上下文|说明|规定|描述|记载|细节|背景|线索)"
_FIND_NOT_ZH = (
    r"(?:找不到|找不着|没有?找到|未找到|未能找到|没能找到|查不到|没有?查到|未查到|没有?看到|未看到|看不到|未见|"
    r"没有?检索到|"
    r"未检索到|没有?搜到|未能检索到|没有?发现|未发现)"
)
_LEAD_ZH = (
    r"^(?:所以|因此|故|还是|仍然?|但是?|不过|然而|而|也|都|却|并且|并|且|目前|暂时|我们?|本人|恕我?|这个问题|该问题|"
    r"对此|实在|还|尚|现在|"
    r"抱歉|对不起|很遗憾|这一点|这点|这|该|完全|根本|就此|因而)*"
)
# Between the material and "not" nothing may be said: "手册规定年假不包括周末" is an answer.
_UP_TO_NOT_ZH = r"(?:(?!规定|指出|写明|写道|显示|表明|要求|认为|声称|介绍了|说明了|提到了|描述了)[^，]){0,14}?"

REFUSALS_ZH: tuple[str, ...] = (
    # The speaker cannot, or will not.
    rf"{_LEAD_ZH}(?:{_CANNOT_ZH}|拒绝)(?:[^，]{{0,6}}{_KNOW_ZH}|$)",
    rf"(?:^|[，也但])我们?[^，他她]{{0,8}}?{_CANNOT_ZH}[^，]{{0,4}}{_KNOW_ZH}",
    rf"(?:^|[，也但])我们?[^，他她]{{0,14}}?(?:{_FIND_NOT_ZH}|没有在[^，]{{0,12}}找到|没能[^，]{{0,12}}找到)",
    r"回答不了|答不了|答不上来|帮不了|(?:无法|不能|难以)(?:回答|作答|解答|答复)(?:您|你|这个|该|此|这一|这类|此类|"
    r"这道)?的?(?:问题|"
    r"提问|请求)?$",
    rf"{_LEAD_ZH}(?:不知道|不清楚|不太清楚|不了解|不确定|不详|未知|无从得知|无从知晓|说不准|不得而知)(?:答案|"
    rf"这个问题)?$",
    rf"(?:^|[，但])我们?(?:并|也|目前|暂时|手头|这里|手上)*(?:没有|缺少|缺乏|没掌握|不具备|"
    rf"不掌握)[^，]{{0,20}}{_FACT_ZH}",
    r"(?:我所?掌握的|我的|我手头的)[^，]{0,6}(?:没有|未|不)",
    rf"需要(?:更多|进一步的?|额外的?|补充)[^，]{{0,6}}{_FACT_ZH}[^，]{{0,4}}(?:才|以便|来)",
    r"^(?:抱歉|对不起)?我们?(?:只能|仅能|只)(?:回答|解答|处理)[^，]{0,20}(?:问题|提问|咨询)",
    # The material does not.
    rf"{_DOC_ZH}{_UP_TO_NOT_ZH}{_NOT_ZH}(?:[^，]{{0,6}}?(?:{_SAY_ZH}|关于|相关|有关|任何)|[^，]{{0,16}}{_FACT_ZH}|$)",
    rf"{_DOC_ZH}{_UP_TO_NOT_ZH}{_FIND_NOT_ZH}",
    rf"{_LEAD_ZH}{_FIND_NOT_ZH}",
    rf"{_LEAD_ZH}{_NOT_ZH}(?:明确|具体|直接|一段|一篇|一处|任何一?[段篇处份]|哪[段篇处份]|有)?{_SAY_ZH}(?!者)",
    r"不在(?:其中|其内|此列)$",
    rf"(?:不在|不属于|超出了?|超过了?)[^，]{{0,10}}(?:{_DOC_ZH}[^，]{{0,6}}(?:中|里|内|范围)|(?:知识|能力|回答|"
    rf"资料)[^，]{{0,4}}范围)",
    rf"{_FACT_ZH}[^，]{{0,4}}(?:在|于)[^，]{{0,8}}{_DOC_ZH}[^，]{{0,4}}(?:不可用|不存在|缺失|没有|未|找不到)",
    # Nobody could.
    rf"^(?:根据|从|仅凭|基于|依据|由|凭|通过|就|以|在|靠|单从|单凭)[^，]{{0,16}}(?:{_CANNOT_ZH}|"
    rf"不足以)[^，]{{0,4}}{_KNOW_ZH}",
    rf"{_FACT_ZH}(?:仍|还|尚|并|太|过于)?(?:不足|不够|有限|缺乏|太少|过少)(?:以[^，]{{0,4}}{_KNOW_ZH}|[^，]{{0,2}}$)",
    rf"不足以(?:用来|据此)?{_KNOW_ZH}",
    rf"^(?:暂时?|目前|尚|并|对不起|抱歉|由于|因为|因)*(?:没有|无|缺少|缺乏|查无|未提供|没提供)(?:到)?(?:任何|可用的?|"
    rf"足够的?|"
    rf"所需的?|必要的?|充分的?|进一步的?|更多的?|您要的|与[^，]{{0,14}})?的?(?:相关|有关|对应|可用|可靠|"
    rf"明确)?的?{_FACT_ZH}"
    r"(?!泄露|丢失|损坏|公开|表明|证明|显示|支持|说明|可以证)",
    r"^(?:答案)?(?:未|没有)(?:[作做予加]任?何?)?(?:提及|提到|说明|注明|给出|提供|明确|写|说)$",
    r"^(?:资料|文中|文档|答案)?(?:未知|不详|不明|无答案|无可奉告|无法回答|无法确定|不得而知|无|没有答案|没有回答)$",
)

FILLERS_ZH: tuple[str, ...] = (
    r"^(?:非常|很|十分|真的?|实在|深表|我)*(?:抱歉|遗憾|对不起|不好意思|歉意)(?:的是|地告诉您|地通知您|地说)?$",
    r"^(?:感谢|谢谢|您好|你好|亲)",
    r"^(?:所以|因此)?(?:我)?(?:建议|请|可以|可|不妨|烦请|欢迎|最好|您|你)+(?:再|先|直接|另行|自行|进一步|"
    r"向[^，]{1,12}|去|到[^，]{1,12}|"
    r"通过[^，]{1,12})*(?:联系|咨询|查阅|查询|询问|参考|提供|补充|致电|访问|核实|联络|重新|告诉|告知|确认|查看|参阅|"
    r"换|核对)",
    r"^(?:如果|如|若|假如|倘若)(?:您|你|还?有|需)",
    r"^(?:我|我们)?(?:已经?)?(?:查阅|查看|检索|搜索|翻阅|翻遍|查找|阅读|浏览|检查|看|查)(?:了|过|遍|完)",
    r"^作为[^，]{0,4}(?:人工智能|ai|语言模型|智能|助手|机器人|大模型)",
    rf"^(?:根据|从|仅凭|基于|依据|由|凭|通过|就|按照|按|在)[^，0-9]{{0,20}}{_DOC_ZH}[^，0-9]{{0,4}}$",
    r"^(?:关于|对于|至于|就|针对)[^，0-9]*$",
    rf"{_DOC_ZH}[^，0-9]{{0,8}}?(?:只|仅|主要|都|均|大多|大多数|全)*(?:是)?(?:介绍|讲|讨论|描述|说的?是|谈|涉及|关注|"
    rf"围绕|关于|聚焦)"
    r"[^0-9]*$",
    r"^[^，0-9]*(?:是否|是谁|何时|为何)[^，0-9]*$",
    r"^(?:我|我们)把[^，0-9]*(?:看|查|读|翻)(?:了|过|完|遍)+$",
    rf"^我?的?{_DOC_ZH}(?:仅|只)?(?:限于|限)",
    r"(?:我|本人)?(?:不便|不宜|不敢|不想)(?:猜测|推测|妄下|评论)",
    r"^(?:以便|以免|希望|祝|我会|我将|我很?乐意|为您)",
)
